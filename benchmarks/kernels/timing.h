// Times short functions in batches that are long enough for the clock, and computes statistics.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_TIMING_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_TIMING_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace larq_engine::benchmarks {

// Nanoseconds of one call: median and quartiles of the batches.
struct Timing {
  double low;
  double median;
  double high;
};

// Calls `run(times)`, which does the work `times` times, in 31 batches of half a millisecond or
// more: the clock resolves a ten-thousandth of that, and a scheduler's interruption hits few of
// them.
template <typename Run>
Timing MeasureBatches(const Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto nanoseconds = [&](uint64_t times) {
    const auto start = Clock::now();
    run(times);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  uint64_t times = 1;
  while (nanoseconds(times) < 5e5) times *= 2;
  std::array<double, 31> batches;
  for (double& batch : batches) batch = nanoseconds(times) / static_cast<double>(times);
  std::sort(batches.begin(), batches.end());
  return {batches[batches.size() / 4], batches[batches.size() / 2],
          batches[batches.size() * 3 / 4]};
}

// Returns the clock of the core. Rates differ with the clock, but a kernel's work in a cycle does
// not. The additions depend on each other and take a cycle each.
inline double MeasureGigahertz() {
  const Timing add = MeasureBatches([](uint64_t times) {
    uint64_t sum = 1;
    for (uint64_t i = 0; i < times; ++i) {
#pragma GCC unroll 64
      for (int j = 0; j < 64; ++j) {
        sum += times;
        asm volatile("" : "+r"(sum));  // otherwise the 64 additions would become one
      }
    }
  });
  return 64 / add.median;
}

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_TIMING_H_
