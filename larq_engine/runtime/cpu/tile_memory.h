// Where the outputs of a segment's steps live: a pure function of their sizes and of who reads
// them.
#ifndef LARQ_ENGINE_RUNTIME_CPU_TILE_MEMORY_H_
#define LARQ_ENGINE_RUNTIME_CPU_TILE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace larq_engine {

// What placing needs to know of a step and its output.
struct TileMemoryStep {
  std::vector<int> producers;  // of its data inputs: an earlier step, or -1 for others
  size_t output;               // the first step that makes a part of the same output; mostly itself
  size_t bytes;                // of the output
  size_t pixel_bytes;          // of one pixel of the output
  bool is_shared;              // others than the segment read it
  bool in_place;
  std::vector<int> whole_producers = {};  // those of `producers` whose outputs are read whole
};

enum class PlaceKind : uint8_t {
  kShared,  // where whoever runs the segment says
  kArena,   // what the segment has for itself
  kTile,    // a worker's scratch: only the tile at hand ever exists
};

struct OutputPlace {
  PlaceKind kind = PlaceKind::kShared;
  size_t offset = 0;          // in the arena, or in the part of the scratch that is for tiles
  bool is_an_inputs = false;  // of a tile: where an input was, which nobody reads any more
};

struct TileMemory {
  std::vector<OutputPlace> outputs;  // of the steps
  size_t arena_bytes = 0;
  size_t tile_bytes = 0;  // for each worker
};

// Groups as GroupSteps makes them, with the most pixels of a tile of each. Outputs that others read
// are where those say. Of the rest, those that only their own group reads exist for one tile at a
// time; what later groups read is in the arena, where places are used again. Throws std::bad_alloc
// if either cannot be as large.
TileMemory PlaceOutputs(std::span<const TileMemoryStep> steps,
                        std::span<const std::vector<size_t>> groups,
                        std::span<const int64_t> tile_pixels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_TILE_MEMORY_H_
