#include "larq_engine/benchmark_model/profile_run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/host_model.h"
#include "larq_engine/benchmark_model/litert_library.h"
#include "larq_engine/benchmark_model/tensor_data.h"

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

void SetRandomInputs(HostModel& model) {
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    std::vector<uint8_t> data(model.inputs()[i].bytes);
    FillRandom(model.inputs()[i].type, i, data);
    model.SetInput(i, data);
  }
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
void RunAndTime(const LiteRtLibrary& library, const Flags& flags, std::span<const uint8_t> file,
                size_t target, TimedRuns& runs) {
  BenchmarkedEngine engine(flags);
  HostModel model(library, engine.delegate());
  model.Load(file);
  model.Compile(flags.num_threads);
  SetRandomInputs(model);
  const auto all = std::chrono::steady_clock::now();
  for (int i = 0; i <= flags.warmup_runs || SecondsSince(all) < flags.warmup_min_secs; ++i) {
    model.Run();
  }
  const auto begin = std::chrono::steady_clock::now();
  do {
    engine.StartProfile();
    const auto start = std::chrono::steady_clock::now();
    model.Run();
    const auto taken = std::chrono::steady_clock::now() - start;
    AddRun(engine.StopProfile(),
           std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count(), runs);
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

}  // namespace

ProfileRuns RunForProfile(const Flags& flags, std::span<const uint8_t> file) {
  const LiteRtLibrary library = OpenLiteRt(flags.litert);
  try {
    ProfileRuns runs;
    const int rounds = std::min(kRounds, flags.num_runs);
    Flags fused = flags;
    if (fused.placement.empty()) fused.placement = kNoPlacement;
    fused.max_secs /= rounds;
    fused.warmup_min_secs /= rounds;
    for (int round = 1; round <= rounds; ++round) {
      const int target = static_cast<int>(int64_t{flags.num_runs} * round / rounds);
      const auto run = [&](const Flags& way, TimedRuns& timed) {
        RunAndTime(library, way, file, static_cast<size_t>(target), timed);
      };
      const auto run_profiler = [&](const Flags& way, TimedRuns& timed) {
        ProfileHost(library, way, file, SetRandomInputs, target, timed.host);
      };
      run(fused, runs.fused);
      run_profiler(fused, runs.fused);
      Flags alone = fused;
      alone.fuse = false;
      alone.placement = PlacementOf(runs.fused, fused.placement);
      run(alone, runs.single);
      Flags host = fused;
      host.fuse = false;
      host.device = "cpu";
      host.placement = kNoPlacement;
      if (flags.device != "cpu") host.kernel = "auto";
      run(host, runs.host);
      run_profiler(host, runs.host);
    }
    return runs;
  } catch (const ModelError& error) {
    throw RunError("model '" + flags.graph + "' (" + std::to_string(file.size()) +
                   " bytes): " + error.what());
  }
}

}  // namespace larq_engine
