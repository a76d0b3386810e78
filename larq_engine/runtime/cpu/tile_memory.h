// Places the outputs of a segment's steps: a pure function of their sizes and readers.
#ifndef LARQ_ENGINE_RUNTIME_CPU_TILE_MEMORY_H_
#define LARQ_ENGINE_RUNTIME_CPU_TILE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace larq_engine {

// The properties of a step and its output that decide about places.
struct TileMemoryStep {
  std::vector<int> producers;  // for each data input: an earlier step, or -1 for others
  size_t output;               // first step that makes a part of the same output; mostly itself
  size_t bytes;                // size of the output
  size_t pixel_bytes;          // size of one pixel of the output
  bool is_shared;              // others than the segment read it
  bool in_place;
  std::vector<int> whole_producers = {};  // those of `producers` whose outputs are read whole
};

enum class PlaceKind : uint8_t {
  kShared,  // where the caller that runs the segment says
  kArena,   // in the segment's own memory
  kTile,    // in a worker's scratch, where only the current tile exists
};

struct OutputPlace {
  PlaceKind kind = PlaceKind::kShared;
  size_t offset = 0;          // in the arena, or in the scratch's part for tiles
  bool is_an_inputs = false;  // for a tile: it overwrites an input that nobody reads any more
};

struct TileMemory {
  std::vector<OutputPlace> outputs;  // for each step
  size_t arena_bytes = 0;
  size_t tile_bytes = 0;  // for each worker
};

// Chooses the places for groups as GroupSteps makes them. `tile_pixels` has the most pixels of a
// tile for each group. Outputs that others read are where the others say. Of the rest, outputs that
// only their own group reads exist for one tile at a time. Outputs that later groups read are in
// the arena, whose memory is reused. Throws std::bad_alloc if arena or tiles would exceed what
// memory can hold.
TileMemory PlaceOutputs(std::span<const TileMemoryStep> steps,
                        std::span<const std::vector<size_t>> groups,
                        std::span<const int64_t> tile_pixels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_TILE_MEMORY_H_
