// Measures whole convolutions on packed data with one thread, beside the bound of this core:
//
//   bconv2d_bench [--json]      --json: for benchmarks/compare.py
//
// The program runs the layers A to D on every kernel row, with bits in, and bits or floats out.
// Each result is compared with that of the first row; a wrong one gets no time, and the exit status
// is 1.
#include <cstdio>
#include <string_view>
#include <vector>

#include "benchmarks/kernels/conv_problem.h"
#include "benchmarks/kernels/limits.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/binary/table.h"

namespace larq_engine::benchmarks {
namespace {

double LimitOf(Isa isa) {
  double best = 0;
  for (const Limit& limit : Limits()) {
    if (limit.isa != isa) continue;
    best =
        std::max(best, static_cast<double>(limit.macs_per_step) / MeasureBatches(limit.run).median);
  }
  return best;
}

int Main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 1 && !json) {
    std::fprintf(stderr, "unknown option %s; expected --json\n", argv[1]);
    return 2;
  }
  bool all_right = true;
  std::printf(json ? "{\"benchmark\": \"bconv2d\", \"results\": [" : "%-36s %-14s %9s %9s %6s\n",
              "", "", "us", "GMAC/s", "limit");
  const char* separator = "";
  for (const BgemmRow& row : BgemmRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;
    const double limit = LimitOf(row.isa);
    for (const OutputKind kind : {OutputKind::kBits, OutputKind::kFloat}) {
      const char* out = kind == OutputKind::kBits ? "bits" : "float";
      for (const Layer& layer : kLayers) {
        ConvProblem problem(layer, kind);
        problem.Use(BgemmRows()[0]);
        problem.Run(1);
        const std::vector<std::byte> expected = problem.output();
        problem.Use(row);
        problem.Run(1);
        if (problem.output() != expected) {
          std::fprintf(stderr, "%s, layer %s, %s out: differs from %s: not timed\n", row.name,
                       layer.name, out, BgemmRows()[0].name);
          all_right = false;
          continue;
        }
        const Timing time = MeasureBatches([&](uint64_t times) { problem.Run(times); });
        const double rate = static_cast<double>(kMacs) / time.median;
        const double part = limit > 0 ? rate / limit : 0;
        if (json) {
          std::printf(
              "%s\n  {\"case\": \"%s %s\", \"subject\": \"%s\", \"macs\": %lld, \"median_ns\": "
              "%.0f, \"quartiles_ns\": [%.0f, %.0f], \"gmac_per_s\": %.1f, \"of_limit\": %.4f}",
              separator, layer.name, out, row.name, static_cast<long long>(kMacs), time.median,
              time.low, time.high, rate, part);
          separator = ",";
        } else {
          std::printf("%-36s %s bits->%-6s %9.1f %9.1f %5.1f%%\n", row.name, layer.name, out,
                      time.median / 1e3, rate, 100 * part);
        }
      }
    }
  }
  if (json) std::printf("]}\n");
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main(int argc, char** argv) { return larq_engine::benchmarks::Main(argc, argv); }
