// What more threads than this machine's could make of the layers A to D, by simulation:
//
//   threads_bench
//
// Each layer is cut for so many threads as the engine cuts it. One thread computes the parts and
// times each; then workers take them in a simulation, in the order of the engine's thread pool.
// What is told is how evenly parts can be shared, and what cutting costs. Not told: waking threads,
// and what cores that share caches and memory take from each other. The parts' result is compared
// with that of the first row; a wrong one gets no times and the exit status is 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "benchmarks/kernels/conv_problem.h"
#include "larq_engine/kernels/kernel_table.h"
#include "larq_engine/kernels/select_product.h"
#include "larq_engine/runtime/cpu/fusion.h"

namespace larq_engine::benchmarks {
namespace {

constexpr int kThreads[] = {1, 2, 4, 8, 16, 32};
constexpr int kPasses = 201;

// A layer's parts for one number of threads, and the shortest time of each.
struct Cut {
  int threads;
  Tiling tiling;
  std::vector<double> nanoseconds;
};

std::vector<Cut> CutLayer(const Layer& layer, const Bconv2d& conv) {
  std::vector<Cut> cuts;
  const size_t pixel_bytes = static_cast<size_t>(layer.filters) / kByteBits;
  for (int threads : kThreads) {
    const Tiling tiling = CutWork(layer.size * layer.size, pixel_bytes, conv.kernel_pixels(),
                                  conv.channel_blocks(), threads);
    cuts.push_back(
        {threads, tiling, std::vector<double>(static_cast<size_t>(tiling.units()), 1e9)});
  }
  return cuts;
}

void RunUnit(ConvProblem& problem, const Tiling& tiling, int64_t unit) {
  const StepRange range = tiling.RangeOf(unit, problem.conv().channel_blocks());
  problem.RunPart(range.first_pixel, range.last_pixel, range.first_block, range.last_block);
}

bool IsRight(ConvProblem& problem, const Tiling& tiling, const std::vector<std::byte>& expected) {
  problem.ClearOutput();
  for (int64_t unit = 0; unit < tiling.units(); ++unit) RunUnit(problem, tiling, unit);
  return problem.output() == expected;
}

// All cuts in turns: what disturbs one disturbs the others.
void TimeParts(ConvProblem& problem, std::vector<Cut>& cuts) {
  using Clock = std::chrono::steady_clock;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (Cut& cut : cuts) {
      for (int64_t unit = 0; unit < cut.tiling.units(); ++unit) {
        const auto start = Clock::now();
        RunUnit(problem, cut.tiling, unit);
        const std::chrono::duration<double, std::nano> time = Clock::now() - start;
        double& shortest = cut.nanoseconds[static_cast<size_t>(unit)];
        shortest = std::min(shortest, time.count());
      }
    }
  }
}

// When the last worker ends: each takes the parts of its own share, then the others'.
double Simulate(const std::vector<double>& parts, int threads) {
  const auto workers = static_cast<size_t>(threads);
  const EvenParts shares = {.pixels = static_cast<int64_t>(parts.size()), .parts = threads};
  std::vector<int64_t> next(workers);
  for (size_t i = 0; i < workers; ++i) next[i] = shares.Begin(static_cast<int64_t>(i));
  std::vector<double> clock(workers, 0.0);
  for (size_t taken = 0; taken < parts.size();) {
    const auto worker = static_cast<size_t>(std::ranges::min_element(clock) - clock.begin());
    for (size_t i = 0; i < workers; ++i) {
      const size_t share = (worker + i) % workers;
      if (next[share] >= shares.Begin(static_cast<int64_t>(share) + 1)) continue;
      clock[worker] += parts[static_cast<size_t>(next[share]++)];
      ++taken;
      break;
    }
  }
  return *std::ranges::max_element(clock);
}

int Main() {
  bool all_right = true;
  std::printf("%-6s %-34s %8s %6s %7s %9s %11s %7s\n", "layer", "row", "threads", "parts", "us",
              "times", "of threads", "work");
  for (const Layer& layer : kLayers) {
    ConvProblem problem(layer, OutputKind::kBits);
    problem.Use(BgemmRows()[0]);
    problem.Run(1);
    const std::vector<std::byte> expected = problem.output();
    const ProductChoice choice = SelectProduct(DetectCpuFeatures(), problem.spec());
    if (choice.planes != nullptr) {
      problem.Use(*choice.planes);
    } else {
      problem.Use(*choice.bytes);
    }
    std::vector<Cut> cuts = CutLayer(layer, problem.conv());
    const auto is_right = [&](const Cut& cut) { return IsRight(problem, cut.tiling, expected); };
    if (!std::ranges::all_of(cuts, is_right)) {
      std::fprintf(stderr, "layer %s in parts differs from %s: not timed\n", layer.name,
                   BgemmRows()[0].name);
      all_right = false;
      continue;
    }
    TimeParts(problem, cuts);
    const double alone = Simulate(cuts[0].nanoseconds, 1);
    for (const Cut& cut : cuts) {
      const double time = Simulate(cut.nanoseconds, cut.threads);
      std::printf("%-6s %-34s %8d %6zu %7.1f %9.2f %10.0f%% %6.0f%%\n", layer.name,
                  problem.conv().kernel(), cut.threads, cut.nanoseconds.size(), time / 1e3,
                  alone / time, 100 * alone / time / cut.threads,
                  100 * Simulate(cut.nanoseconds, 1) / alone);
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main() { return larq_engine::benchmarks::Main(); }
