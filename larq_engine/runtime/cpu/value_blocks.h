// Cuts the values of a pixel into blocks, for steps that make each value by itself.
#ifndef LARQ_ENGINE_RUNTIME_CPU_VALUE_BLOCKS_H_
#define LARQ_ENGINE_RUNTIME_CPU_VALUE_BLOCKS_H_

#include <algorithm>
#include <cstdint>

#include "larq_engine/runtime/cpu/fusion.h"

namespace larq_engine {

class ValueBlocks {
 public:
  struct Stretch {
    int64_t first;
    int64_t count;
  };

  explicit ValueBlocks(int64_t values = 0) : values_(values) {}

  int64_t blocks() const { return std::max<int64_t>(1, values_ / kBlockValues); }

  // Returns which values of each pixel a range has.
  Stretch Within(const StepRange& range) const {
    const int64_t first = values_ * range.first_block / blocks();
    return {.first = first, .count = values_ * range.last_block / blocks() - first};
  }

  // Calls run(first, count) for each stretch of values that a range has, from the range's first
  // pixel on. If it has all blocks, all pixels are one stretch.
  template <typename Run>
  void ForEachStretch(const StepRange& range, const Run& run) const {
    const int64_t pixels = range.last_pixel - range.first_pixel;
    const auto [first, count] = Within(range);
    if (count == values_) return run(int64_t{0}, pixels * values_);
    for (int64_t pixel = 0; pixel < pixels; ++pixel) run(pixel * values_ + first, count);
  }

 private:
  static constexpr int64_t kBlockValues = 1024;  // guess

  int64_t values_;  // of a pixel
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_VALUE_BLOCKS_H_
