#include "benchmarks/model/profile_run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "benchmarks/model/engine.h"
#include "benchmarks/model/errors.h"
#include "benchmarks/model/host_model.h"
#include "benchmarks/model/litert_library.h"
#include "benchmarks/model/tensor_data.h"

namespace larq_engine {
namespace {

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

void AddRun(std::vector<StepProfile> steps, double seconds, TimedRuns& runs) {
  std::erase_if(steps, [](const StepProfile& step) { return step.subgraph > 0; });
  double host = seconds;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == runs.steps.size()) runs.steps.push_back({.step = steps[i], .seconds = {}});
    const double time = static_cast<double>(steps[i].total_ns) / 1e9;
    runs.steps[i].seconds.push_back(time);
    host -= time;
  }
  runs.seconds.push_back(seconds);
  runs.host_seconds.push_back(std::max(host, 0.0));
}

TimedRuns RunAndTime(const LiteRtLibrary& library, const Flags& flags,
                     std::span<const uint8_t> file) {
  BenchmarkedEngine engine(flags);
  HostModel model(library, engine.delegate());
  model.Load(file);
  model.Compile(flags.num_threads);
  SetRandomInputs(model);
  const auto all = std::chrono::steady_clock::now();
  for (int i = 0; i <= flags.warmup_runs || SecondsSince(all) < flags.warmup_min_secs; ++i) {
    model.Run();
  }
  TimedRuns runs;
  const auto begin = std::chrono::steady_clock::now();
  while (runs.seconds.empty() || (runs.seconds.size() < static_cast<size_t>(flags.num_runs) &&
                                  SecondsSince(begin) < flags.max_secs)) {
    engine.StartProfile();
    const auto start = std::chrono::steady_clock::now();
    model.Run();
    const double seconds = SecondsSince(start);
    AddRun(engine.StopProfile(), seconds, runs);
  }
  return runs;
}

// Says where each operator was, so that it is there without its neighbours too.
std::string PlacementOf(const TimedRuns& runs, const std::string& given) {
  std::map<int, std::string> devices;
  for (const TimedStep& timed : runs.steps) {
    if (timed.step.op == kTransfer) continue;
    devices[timed.step.node] = timed.step.device;
    for (const int node : timed.step.absorbed) devices[node] = timed.step.device;
  }
  std::string text = given;
  for (const auto& [node, device] : devices) {
    const std::string item = std::to_string(node) + ":";
    if (("," + given).find("," + item) != std::string::npos) continue;
    text += (text.empty() ? "" : ",") + item + device;
  }
  return text;
}

}  // namespace

ProfileRuns RunForProfile(const Flags& flags, std::span<const uint8_t> file) {
  const LiteRtLibrary library = OpenLiteRt(flags.litert);
  try {
    ProfileRuns runs;
    runs.fused = RunAndTime(library, flags, file);
    runs.fused.host = ProfileHost(library, flags, file, SetRandomInputs);
    Flags alone = flags;
    alone.fuse = false;
    alone.placement = PlacementOf(runs.fused, flags.placement);
    runs.single = RunAndTime(library, alone, file);
    Flags host = flags;
    host.fuse = false;
    host.device = "cpu";
    host.placement.clear();
    if (flags.device != "cpu") host.kernel = "auto";
    runs.host = RunAndTime(library, host, file);
    runs.host.host = ProfileHost(library, host, file, SetRandomInputs);
    return runs;
  } catch (const ModelError& error) {
    throw RunError("model '" + flags.graph + "' (" + std::to_string(file.size()) +
                   " bytes): " + error.what());
  }
}

}  // namespace larq_engine
