#include "larq_engine/benchmark_model/benchmark.h"

#include <algorithm>
#include <chrono>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/engine_model.h"
#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/files.h"
#include "larq_engine/benchmark_model/host_model.h"
#include "larq_engine/benchmark_model/host_profile.h"
#include "larq_engine/benchmark_model/litert_library.h"
#include "larq_engine/benchmark_model/machine.h"
#include "larq_engine/benchmark_model/tensor_files.h"

namespace larq_engine {
namespace {

class Stopwatch {
 public:
  int64_t Nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }
  double Milliseconds() const { return static_cast<double>(Nanoseconds()) / 1e6; }
  double Seconds() const { return static_cast<double>(Nanoseconds()) / 1e9; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

std::vector<std::string> Names(const std::vector<ModelTensor>& tensors) {
  std::vector<std::string> names;
  for (const ModelTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

std::vector<uint8_t> ReadTensor(const std::string& path, const ModelTensor& tensor) {
  std::vector<uint8_t> data = ReadFile(path);
  if (data.size() != tensor.bytes) {
    throw RunError("'" + path + "': expected the " + std::to_string(tensor.bytes) +
                   " bytes of tensor '" + tensor.name + "', got " + std::to_string(data.size()));
  }
  return data;
}

void SetInputs(TimedModel& model, const Flags& flags) {
  const std::vector<TensorFile> files =
      MatchTensorFiles(flags.input_value_files, Names(model.inputs()), "input_value_files");
  std::vector<const std::string*> paths(model.inputs().size());
  for (const TensorFile& file : files) paths[file.tensor] = &file.path;
  for (size_t i = 0; i < paths.size(); ++i) {
    const ModelTensor& input = model.inputs()[i];
    if (paths[i] != nullptr) {
      model.SetInput(i, ReadTensor(*paths[i], input));
    } else {
      std::vector<uint8_t> data(input.bytes);
      FillRandom(input.type, i, data);
      model.SetInput(i, data);
    }
  }
}

// Runs the model `runs` times or until `min_secs` are over, whichever takes longer, but not beyond
// `max_secs`. Runs at least once, if there is anything to do.
Statistics RunAndTime(TimedModel& model, int runs, double min_secs, double max_secs) {
  std::vector<double> times;
  const Stopwatch all;
  double seconds = 0;
  while ((times.size() < static_cast<size_t>(runs) || seconds < min_secs) &&
         (times.empty() || seconds < max_secs) && times.size() < kMaxRuns) {
    const Stopwatch one;
    model.Run();
    times.push_back(one.Milliseconds());
    seconds = all.Seconds();
  }
  return Summarize(std::move(times));
}

struct EngineProfile {
  std::vector<StepProfile> steps;
  int64_t elapsed_ns = 0;
  int64_t runs = 0;
};

EngineProfile ProfileEngine(TimedModel& model, const Flags& flags) {
  model.StartProfile();
  const Stopwatch all;
  EngineProfile profile;
  while (profile.runs == 0 || (profile.runs < flags.num_runs && all.Seconds() < flags.max_secs)) {
    const Stopwatch one;
    model.Run();
    profile.elapsed_ns += one.Nanoseconds();
    ++profile.runs;
  }
  profile.steps = model.StopProfile();
  return profile;
}

std::vector<HostOp> HostOps(const HostProfile& profile) {
  std::vector<HostOp> ops;
  for (const HostOpTimes& op : profile.ops()) {
    ops.push_back({.names = profile.names[static_cast<size_t>(op.node)],
                   .node = op.node,
                   .ms = 1e3 * MiddleMean(op.seconds)});
  }
  return ops;
}

std::vector<std::string> KernelsInUse(TimedModel& model) {
  std::vector<std::string> kernels;
  model.StartProfile();
  for (const StepProfile& step : model.StopProfile()) {
    if (step.op == "LceBconv2d" &&
        std::find(kernels.begin(), kernels.end(), step.kernel) == kernels.end()) {
      kernels.push_back(step.kernel);
    }
  }
  return kernels;
}

void Initialize(TimedModel& model, const Flags& flags, std::vector<uint8_t>& file,
                BenchmarkResult& result) {
  const Stopwatch load_time;
  file = ReadFile(flags.graph);
  result.model_bytes = file.size();
  model.Load(file);
  result.load_ms = load_time.Milliseconds();
  const Stopwatch compile_time;
  model.Compile();
  result.compile_ms = compile_time.Milliseconds();
  result.bytes_after_init = ResidentBytes();
  result.device_memory = model.DeviceMemory();
  result.inputs = model.inputs();
  result.outputs = model.outputs();
}

// Files are matched before the model runs, because runs may take long.
void RunFirst(TimedModel& model, const Flags& flags, BenchmarkResult& result) {
  const std::vector<std::string> outputs = Names(model.outputs());
  const std::vector<TensorFile> to_save =
      MatchTensorFiles(flags.save_outputs, outputs, "save_outputs");
  const std::vector<TensorFile> to_check = MatchTensorFiles(flags.check, outputs, "check");
  std::vector<std::vector<uint8_t>> expected;
  for (const TensorFile& file : to_check) {
    expected.push_back(ReadTensor(file.path, model.outputs()[file.tensor]));
  }
  SetInputs(model, flags);

  const Stopwatch time;
  model.Run();
  result.first_ms = time.Milliseconds();
  result.kernels = KernelsInUse(model);

  for (size_t i = 0; i < to_check.size(); ++i) {
    const ModelTensor& output = model.outputs()[to_check[i].tensor];
    result.checks.push_back({.output = output.name,
                             .path = to_check[i].path,
                             .elements = output.bytes / ElementSize(output.type),
                             .difference = Compare(output.type, model.Output(to_check[i].tensor),
                                                   expected[i], flags.check_tolerance)});
  }
  for (const TensorFile& file : to_save) WriteFile(file.path, model.Output(file.tensor));
}

// The file and the times of a benchmark.
struct Measured {
  BenchmarkResult result;
  std::vector<uint8_t> file;
  std::optional<EngineProfile> profile;
};

void Measure(TimedModel& model, const Flags& flags, Measured& measured) {
  BenchmarkResult& result = measured.result;
  Initialize(model, flags, measured.file, result);
  RunFirst(model, flags, result);
  result.warmup = RunAndTime(model, flags.warmup_runs, flags.warmup_min_secs, flags.max_secs);
  result.measured = RunAndTime(model, flags.num_runs, flags.min_secs, flags.max_secs);
  if (flags.enable_op_profiling) measured.profile = ProfileEngine(model, flags);
}

void MeasureInLiteRt(const Flags& flags, Measured& measured) {
  BenchmarkResult& result = measured.result;
  BenchmarkedEngine engine(flags);
  result.bytes_before_init = ResidentBytes();
  const Stopwatch library_time;
  const LiteRtLibrary library = OpenLiteRt(flags.litert);
  result.litert_path = library.path;
  {
    HostModel model(library, engine);
    result.library_ms = library_time.Milliseconds();
    Measure(model, flags, measured);
  }
  result.peak_bytes = PeakResidentBytes();
  if (measured.profile) {
    const EngineProfile& profile = *measured.profile;
    const auto set_inputs = [&](TimedModel& model) { SetInputs(model, flags); };
    HostProfile host;
    ProfileHost(library, flags, measured.file, set_inputs, flags.num_runs, host);
    result.ops = MakeOpTable(profile.steps, HostOps(host), profile.elapsed_ns, profile.runs);
  }
}

void MeasureAlone(const Flags& flags, Measured& measured) {
  BenchmarkResult& result = measured.result;
  EngineModel model(flags);
  result.bytes_before_init = ResidentBytes();
  Measure(model, flags, measured);
  result.peak_bytes = PeakResidentBytes();
  if (measured.profile) {
    const EngineProfile& profile = *measured.profile;
    result.ops = MakeOpTable(profile.steps, {}, profile.elapsed_ns, profile.runs,
                             /*has_host=*/false);
  }
}

void MeasureInDefault(const Flags& flags, Measured& measured) {
  std::string missing;
  try {
    return MeasureInLiteRt(flags, measured);
  } catch (const NoLiteRtError& error) {
    missing = error.what();
  }
  try {
    MeasureAlone(flags, measured);
  } catch (const NotComputedError& error) {
    throw ModelError(error.what() + ("; " + missing));
  }
}

void MeasureInAny(const Flags& flags, Measured& measured) {
  std::string refusal;
  try {
    return MeasureAlone(flags, measured);
  } catch (const NotComputedError& error) {
    refusal = error.what();
  }
  measured.result = {};
  try {
    MeasureInLiteRt(flags, measured);
  } catch (const NoLiteRtError& error) {
    throw ModelError(refusal + "; " + error.what());
  }
}

void MeasureIn(HostChoice host, const Flags& flags, Measured& measured) {
  switch (host) {
    case HostChoice::kDefault:
      return MeasureInDefault(flags, measured);
    case HostChoice::kLiteRt:
      return MeasureInLiteRt(flags, measured);
    case HostChoice::kNone:
      return MeasureAlone(flags, measured);
    case HostChoice::kAuto:
      return MeasureInAny(flags, measured);
  }
}

}  // namespace

BenchmarkResult RunBenchmark(const Flags& flags) {
  Measured measured;
  try {
    MeasureIn(flags.host, flags, measured);
  } catch (const ModelError& error) {
    throw RunError("model '" + flags.graph + "' (" + std::to_string(measured.file.size()) +
                   " bytes): " + error.what());
  }
  return std::move(measured.result);
}

}  // namespace larq_engine
