// How the steps of a plan are put together and cut into work: pure functions of their sizes.
//
// A group of steps runs as one: its first step may read its input anywhere, the others what earlier
// groups made, and of what the group makes only the pixel that they compute, so a group works
// through its pixels tile by tile, all steps on one tile before the next. What passes between them
// stays in the cache, and there is one fork and join.
#ifndef LARQ_ENGINE_RUNTIME_CPU_FUSION_H_
#define LARQ_ENGINE_RUNTIME_CPU_FUSION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/even_parts.h"

namespace larq_engine {

struct FusionStep {
  std::vector<int> producers;  // of its data inputs: an earlier step, or -1 for others
  int64_t pixels;
  bool pixelwise;
  int beside = -1;  // an earlier step that reads the same, which nobody here makes; or -1
  std::vector<int> whole_producers = {};  // those of `producers` whose outputs are read whole
};

// Guess: with fewer pixels there is little to keep in the cache, and a step alone can cut its
// channels.
inline constexpr int64_t kMinFusedPixels = 16;

// Indices of steps, groups in the order in which they run. Without `fuse` each step is alone.
std::vector<std::vector<size_t>> GroupSteps(std::span<const FusionStep> steps, bool fuse);

// The work of a step is cut along the pixels of its output (all dimensions but the last), and,
// where pixels are few, along blocks of the work of a pixel. Parts can be computed in any order and
// at the same time.
struct StepRange {
  int64_t first_pixel;
  int64_t last_pixel;
  int64_t first_block;
  int64_t last_block;
};

struct Tiling {
  EvenParts tiles;
  int64_t blocks;  // that the work of a pixel is cut into, for a step alone with few pixels
  int64_t units() const { return tiles.parts * blocks; }

  // What unit `unit` computes of a step with so many blocks.
  StepRange RangeOf(int64_t unit, int64_t step_blocks) const {
    const int64_t tile = unit / blocks, part = unit % blocks;
    return {.first_pixel = tiles.Begin(tile),
            .last_pixel = tiles.Begin(tile + 1),
            .first_block = step_blocks * part / blocks,
            .last_block = step_blocks * (part + 1) / blocks};
  }
};

// `pixel_bytes` are those of all places that the group writes to, for one pixel.
Tiling CutWork(int64_t pixels, size_t pixel_bytes, KernelPixels kernel, int64_t step_blocks,
               int threads);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_FUSION_H_
