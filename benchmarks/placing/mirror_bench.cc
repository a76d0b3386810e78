// Compares the time of a placed network with the prediction. The network has known costs on two
// devices; it runs all on the one, all on the other, and as the exact assignment says, in turns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/runtime/plan/slow_network.h"

namespace larq_engine::testing {
namespace {

constexpr int kRounds = 200;
constexpr uint8_t kGarbage = 0x11;  // shows outputs that a run leaves unwritten

struct Contender {
  std::string name;
  double predicted;  // seconds
  DelegatePtr delegate;
  std::unique_ptr<MiniHost> host;
  std::vector<double> seconds = {};
  bool equal = true;
};

void Require(bool success, const MiniHost& host) {
  if (!success) throw std::runtime_error(host.errors());
}

Contender MakeContender(const std::string& name, double predicted, const Graph& graph,
                        DelegatePtr delegate, const Outputs& expected) {
  Contender made{.name = name,
                 .predicted = predicted,
                 .delegate = std::move(delegate),
                 .host = std::make_unique<MiniHost>(graph)};
  Require(made.host->ApplyDelegate(made.delegate.get()) == kTfLiteOk, *made.host);
  Outputs outputs;
  Require(RunOnce(made.host.get(), 1, kGarbage, &outputs), *made.host);
  made.equal = outputs == expected;
  return made;
}

void Measure(Contender& contender, const Outputs& expected) {
  const std::span<uint8_t> output = contender.host->OutputBytes(0);
  std::fill(output.begin(), output.end(), kGarbage);
  const auto start = std::chrono::steady_clock::now();
  Require(contender.host->Invoke() == kTfLiteOk, *contender.host);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  contender.seconds.push_back(passed.count());
  contender.equal &= std::equal(output.begin(), output.end(), expected[0].begin());
}

// Runs the comparison; returns true if all outputs equal those of the engine on the CPU alone.
bool RunAll() {
  const SlowNetwork network;
  const AssignProblem& problem = network.problem();
  const Assignment best = Assign(problem.ops, problem.values, {"cpu", "mirror"});
  Outputs expected;
  {
    const DelegatePtr alone = CreateDelegate({});
    MiniHost host(network.graph());
    Require(host.ApplyDelegate(alone.get()) == kTfLiteOk, host);
    Require(RunOnce(&host, 1, kGarbage, &expected), host);
  }
  std::vector<Contender> contenders;
  const auto add = [&](const std::string& name, const std::vector<size_t>& device) {
    contenders.push_back(MakeContender(name, SecondsOf(problem, device), network.graph(),
                                       network.MakePlaced(device, /*slow=*/true), expected));
  };
  add("all on device 0", std::vector<size_t>(problem.ops.size(), 0));
  add("all on device 1", std::vector<size_t>(problem.ops.size(), 1));
  add("exact placement", best.device);
  for (int round = 0; round < kRounds; ++round) {
    for (Contender& contender : contenders) Measure(contender, expected);
  }
  std::printf("Medians of %d runs of %zu operators, in turns; the exact placement:", kRounds,
              problem.ops.size());
  for (size_t device : best.device) std::printf(" %zu", device);
  std::printf("\n\n%-15s  %12s  %11s  %8s  %s\n", "", "predicted ms", "measured ms", "ratio",
              "outputs");
  bool all_equal = true;
  for (Contender& contender : contenders) {
    std::vector<double>& seconds = contender.seconds;
    std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
    const double median = seconds[kRounds / 2];
    std::printf("%-15s  %12.3f  %11.3f  %8.3f  %s\n", contender.name.c_str(),
                contender.predicted * 1e3, median * 1e3, median / contender.predicted,
                contender.equal ? "equal" : "DIFFERENT");
    all_equal &= contender.equal;
  }
  return all_equal;
}

}  // namespace
}  // namespace larq_engine::testing

int main() {
  try {
    return larq_engine::testing::RunAll() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mirror_bench: %s\n", e.what());
    return 1;
  }
}
