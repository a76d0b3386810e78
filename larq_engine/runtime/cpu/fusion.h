// Groups the steps of a segment and cuts them into work. All functions are pure and depend on sizes
// only.
//
// A group of steps runs as one. Its first step may read its input anywhere. The others read results
// of earlier groups, and of their own group's results only the pixel that they compute. So a group
// works through its pixels tile by tile, and all steps finish one tile before the next. The values
// between them stay in the cache, and there is one fork and join.
#ifndef LARQ_ENGINE_RUNTIME_CPU_FUSION_H_
#define LARQ_ENGINE_RUNTIME_CPU_FUSION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/even_parts.h"

namespace larq_engine {

struct FusionStep {
  std::vector<int> producers;  // for each data input: an earlier step, or -1 for others
  int64_t pixels;
  bool pixelwise;
  // The first step that reads the same input, if it is an earlier one and no step makes that input;
  // or -1.
  int first_reader = -1;
  std::vector<int> whole_producers = {};  // those of `producers` whose outputs are read whole
};

// Guess: with fewer pixels there is little to keep in the cache, and a step by itself can be cut
// along its channels.
inline constexpr int64_t kMinFusedPixels = 16;

// Returns groups of indices of steps, in the order in which the groups run. Without `fuse` each
// step is a group.
std::vector<std::vector<size_t>> GroupSteps(std::span<const FusionStep> steps, bool fuse);

// A piece of a step's work. The work is cut along the pixels of the output (all dimensions but the
// last) and, if pixels are few, along blocks of the work of a pixel. Pieces can be computed in any
// order and at the same time.
struct StepRange {
  int64_t first_pixel;
  int64_t last_pixel;
  int64_t first_block;
  int64_t last_block;
};

struct Tiling {
  EvenParts tiles;
  int64_t blocks;  // pieces of a pixel's work, if a step is alone and has few pixels
  int64_t units() const { return tiles.parts * blocks; }

  // Returns what unit `unit` computes of a step that has `step_blocks` blocks.
  StepRange RangeOf(int64_t unit, int64_t step_blocks) const {
    const int64_t tile = unit / blocks, part = unit % blocks;
    return {.first_pixel = tiles.Begin(tile),
            .last_pixel = tiles.Begin(tile + 1),
            .first_block = step_blocks * part / blocks,
            .last_block = step_blocks * (part + 1) / blocks};
  }
};

// `pixel_bytes` is the sum over all places that the group writes to, for one pixel.
Tiling CutWork(int64_t pixels, size_t pixel_bytes, KernelPixels kernel, int64_t step_blocks,
               int threads);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_FUSION_H_
