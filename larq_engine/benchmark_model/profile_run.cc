#include "larq_engine/benchmark_model/profile_run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/engine_model.h"
#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/host_model.h"
#include "larq_engine/benchmark_model/litert_library.h"
#include "larq_engine/benchmark_model/timed_model.h"

namespace larq_engine {
namespace {

// The ways of running take turns in rounds, so that disturbances by other work on the machine fall
// on all of them.
constexpr int kRounds = 5;

// The placement in a model's file is ignored, so that the measurements cover all devices to choose
// from.
constexpr char kNoPlacement[] = "none";

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void AddRun(std::vector<StepProfile> steps, int64_t nanoseconds, TimedRuns& runs) {
  std::erase_if(steps, [](const StepProfile& step) { return step.subgraph > 0; });
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == runs.steps.size()) runs.steps.push_back({.step = steps[i], .nanoseconds = {}});
    runs.steps[i].nanoseconds.push_back(static_cast<int64_t>(steps[i].total_ns));
  }
  runs.nanoseconds.push_back(nanoseconds);
}

// Runs until there are `target` runs in all, or the time of --max_secs is over; at least once.
void RunAndTime(TimedModel& model, const Flags& flags, std::span<const uint8_t> file, size_t target,
                TimedRuns& runs) {
  model.Load(file);
  model.Compile();
  SetRandomInputs(model);
  const auto all = std::chrono::steady_clock::now();
  for (int i = 0; i <= flags.warmup_runs || SecondsSince(all) < flags.warmup_min_secs; ++i) {
    model.Run();
  }
  const auto begin = std::chrono::steady_clock::now();
  do {
    model.StartProfile();
    const auto start = std::chrono::steady_clock::now();
    model.Run();
    const auto taken = std::chrono::steady_clock::now() - start;
    AddRun(model.StopProfile(), std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count(),
           runs);
  } while (runs.nanoseconds.size() < target && SecondsSince(begin) < flags.max_secs);
}

// Places each operator where it ran, so that it runs there without its neighbours too.
std::string PlacementOf(const TimedRuns& runs, const std::string& given) {
  std::map<int, std::string> devices;
  for (const TimedStep& timed : runs.steps) {
    if (timed.step.op == kTransfer) continue;
    devices[timed.step.node] = timed.step.device;
    for (const int node : timed.step.absorbed) devices[node] = timed.step.device;
  }
  std::string text = given == kNoPlacement ? "" : given;
  for (const auto& [node, device] : devices) {
    const std::string item = std::to_string(node) + ":";
    if (("," + given).find("," + item) != std::string::npos) continue;
    text += (text.empty() ? "" : ",") + item + device;
  }
  return text.empty() ? kNoPlacement : text;
}

// Runs models in LiteRT, or without a host if there is no library.
class Runner {
 public:
  Runner(const LiteRtLibrary* library, std::span<const uint8_t> file)
      : library_(library), file_(file) {}

  bool has_host() const { return library_ != nullptr; }

  void Run(const Flags& way, int target, TimedRuns& timed) const {
    const auto runs = static_cast<size_t>(target);
    if (library_ == nullptr) {
      EngineModel model(way);
      RunAndTime(model, way, file_, runs, timed);
      return;
    }
    BenchmarkedEngine engine(way);
    HostModel model(*library_, engine);
    RunAndTime(model, way, file_, runs, timed);
  }

  // Runs with LiteRT's profiler on.
  void RunProfiler(const Flags& way, int target, TimedRuns& timed) const {
    if (library_ == nullptr) return;
    ProfileHost(*library_, way, file_, SetRandomInputs, target, timed.host);
  }

 private:
  const LiteRtLibrary* library_;
  std::span<const uint8_t> file_;
};

// All ways with the same number of threads, kernel and device.
struct Ways {
  explicit Ways(const Flags& flags, int rounds) : fused(flags) {
    if (fused.placement.empty()) fused.placement = kNoPlacement;
    fused.max_secs /= rounds;
    fused.warmup_min_secs /= rounds;
  }

  Flags Single(const TimedRuns& runs) const {
    Flags single = fused;
    single.fuse = false;
    single.placement = PlacementOf(runs, fused.placement);
    return single;
  }

  Flags Host() const {
    Flags host = fused;
    host.fuse = false;
    host.device = "cpu";
    host.placement = kNoPlacement;
    if (fused.device != "cpu") host.kernel = "auto";
    return host;
  }

  Flags fused;
};

ProfileRuns RunAllWays(const Flags& flags, const Runner& runner) {
  ProfileRuns runs;
  const int rounds = std::min(kRounds, flags.num_runs);
  const Ways ways(flags, rounds);
  if (runner.has_host()) runs.host.emplace();
  for (int round = 1; round <= rounds; ++round) {
    const int target = static_cast<int>(int64_t{flags.num_runs} * round / rounds);
    runner.Run(ways.fused, target, runs.fused);
    runner.RunProfiler(ways.fused, target, runs.fused);
    runner.Run(ways.Single(runs.fused), target, runs.single);
    if (!runs.host) continue;
    runner.Run(ways.Host(), target, *runs.host);
    runner.RunProfiler(ways.Host(), target, *runs.host);
  }
  return runs;
}

}  // namespace

ProfileRuns RunForProfile(const Flags& flags, std::span<const uint8_t> file) {
  try {
    if (flags.host == HostChoice::kNone) return RunAllWays(flags, Runner(nullptr, file));
    const LiteRtLibrary library = OpenLiteRt(flags.litert);
    return RunAllWays(flags, Runner(&library, file));
  } catch (const ModelError& error) {
    throw RunError("model '" + flags.graph + "' (" + std::to_string(file.size()) +
                   " bytes): " + error.what());
  }
}

}  // namespace larq_engine
