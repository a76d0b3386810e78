// Whether SelectBgemm picks the fastest row, for each CPU that has no more than some ISA of this
// one:
//
//   choice_bench
//
// 1x1 and 3x3 convolutions of few filters, bits in, floats out, on a 28x28 image. Where there are
// few, rows that are narrow may beat those that are fast.
#include <cstdio>
#include <vector>

#include "benchmarks/kernels/conv_problem.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/kernel_table.h"
#include "larq_engine/kernels/select.h"

namespace larq_engine::benchmarks {
namespace {

constexpr int64_t kFilters[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};
constexpr int64_t kChannels[] = {64, 256};
constexpr int64_t kTaps[] = {1, 3};  // on each axis
constexpr int kRounds = 5;           // over all rows, so that a change of clock meets all of them

// One line: the times of a layer on each row, and what is lost.
void Print(const Layer& layer) {
  const std::span<const BgemmRow> rows = BgemmRows();
  ConvProblem problem(layer, OutputKind::kFloat);
  std::vector<std::vector<double>> times(rows.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t r = 0; r < rows.size(); ++r) {
      if (!DetectCpuFeatures().Has(rows[r].isa)) continue;
      problem.Use(rows[r]);
      times[r].push_back(MeasureBatches([&](uint64_t n) { problem.Run(n); }).median);
    }
  }
  std::printf("%4lld %8lld %8lld ", static_cast<long long>(layer.taps),
              static_cast<long long>(layer.channels), static_cast<long long>(layer.filters));
  CpuFeatures cpu = {};
  double best = 1e30;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (times[r].empty()) continue;
    std::sort(times[r].begin(), times[r].end());
    best = std::min(best, times[r][kRounds / 2]);
    cpu.Add(rows[r].isa);
    const BgemmRow* chosen = SelectBgemm(rows, cpu, ProductShape(problem.spec())).row;
    const double loss = times[static_cast<size_t>(chosen - rows.data())][kRounds / 2] / best;
    std::printf(" %s %.1f (%+.0f %%)", rows[r].name, times[r][kRounds / 2] / 1e3, 100 * (loss - 1));
  }
  std::printf("\n");
}

int Main() {
  std::printf(
      "%4s %8s %8s  microseconds of each row; for a CPU up to its ISA the loss of the choice\n",
      "taps", "channels", "filters");
  for (const int64_t taps : kTaps) {
    for (const int64_t channels : kChannels) {
      for (const int64_t filters : kFilters) Print({"", 28, channels, filters, taps});
    }
  }
  return 0;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main() { return larq_engine::benchmarks::Main(); }
