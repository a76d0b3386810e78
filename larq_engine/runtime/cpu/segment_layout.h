// The layout of a segment's run: which steps run together, how their work is cut, and where values
// lie. It is computed once for a set of shapes, by a pure function of the steps' sizes.
#ifndef LARQ_ENGINE_RUNTIME_CPU_SEGMENT_LAYOUT_H_
#define LARQ_ENGINE_RUNTIME_CPU_SEGMENT_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/cpu/fusion.h"
#include "larq_engine/runtime/cpu/tile_memory.h"

namespace larq_engine {

struct SizedInput {
  size_t value;
  size_t bytes;
  bool is_read_whole;
};

// The properties of a step, sized for a pass, that decide about the layout.
struct SizedStep {
  std::vector<SizedInput> inputs;
  size_t output;  // number of a value, of which several steps may make a part each
  size_t output_bytes;
  bool is_shared = false;    // others than the segment read the output
  bool is_of_parts = false;  // it computes some channels of an operator
  // If the step makes a part of the output: bytes in each pixel before the part, and of the part.
  size_t part_offset = 0;
  size_t part_bytes = 0;
  // See Step.
  int64_t pixels;
  int64_t blocks = 1;
  KernelPixels kernel_pixels = {.tile = 1};
  bool pixelwise = false;
  bool in_place = false;
  size_t scratch_bytes = 0;
};

// The place of what a step reads or makes.
struct ValuePlace {
  PlaceKind kind = PlaceKind::kShared;
  size_t value = 0;   // number, if it is shared
  size_t offset = 0;  // from the beginning of the shared value, the arena, or a worker's scratch
  size_t pixel_bytes = 0;  // from one pixel to the next; 0 for an input that is read whole
  size_t pass_bytes = 0;   // from one pass to the next, if it is shared
  size_t address = 0;      // number among the addresses of a run; unused for tiles
};

struct PlacedStep {
  std::vector<ValuePlace> inputs;
  ValuePlace output;
  int64_t blocks;
};

struct StepGroup {
  std::vector<size_t> steps;
  Tiling tiling;
};

struct SegmentLayout {
  std::vector<PlacedStep> steps;
  std::vector<StepGroup> groups;  // in the order in which they run
  size_t addresses = 0;           // number of all places
  size_t arena_bytes = 0;
  size_t scratch_bytes = 0;  // for each worker: first the step's own, then tiles
};

// Throws std::bad_alloc if the arena or the scratch would exceed what memory can hold.
SegmentLayout LayOutSegment(std::span<const SizedStep> steps, bool fuse, int threads);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_SEGMENT_LAYOUT_H_
