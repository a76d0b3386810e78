#include "larq_engine/benchmark_model/host_profile.h"

#include <chrono>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/model_file/flatbuffer.h"
#include "larq_engine/model_file/model_file.h"

namespace larq_engine {
namespace {

std::vector<OperatorNames> NamesOfNodes(std::span<const uint8_t> file) {
  Flatbuffer flatbuffer(file);
  const ModelFile model = ReadModelFile(flatbuffer);
  std::vector<OperatorNames> names;
  for (const FileOperator& op : model.graphs[0].operators) {
    names.push_back(NamesOf(model, model.graphs[0], op));
  }
  return names;
}

}  // namespace

void ProfileHost(const LiteRtLibrary& library, const Flags& flags, std::span<const uint8_t> file,
                 const std::function<void(TimedModel&)>& set_inputs, int runs,
                 HostProfile& profile) {
  if (!profile.refusal.empty()) return;
  using Clock = std::chrono::steady_clock;
  BenchmarkedEngine engine(flags);
  HostPlanReader reader(engine.delegate());
  try {
    HostModel model(library, engine, &reader);
    model.Load(file);
    model.Compile();
    set_inputs(model);
    for (int i = 0; i <= flags.warmup_runs; ++i) model.Run();
    if (profile.names.empty()) profile.names = NamesOfNodes(file);
    if (!profile.times) profile.times.emplace(reader.steps(), profile.names);
    const Clock::time_point begin = Clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    do {
      profile.times->AddRun(model.RunWithProfiler());
      ++profile.runs;
    } while (profile.runs < runs && seconds() < flags.max_secs);
  } catch (const ModelError& error) {
    profile.times.reset();
    profile.refusal = error.what();
  }
}

}  // namespace larq_engine
