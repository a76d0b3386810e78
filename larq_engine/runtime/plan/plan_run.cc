#include "larq_engine/runtime/plan/plan_run.h"

#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

void Copy(const PlanRun& run, const Action& action) {
  const Value& value = run.program.value(action.value);
  DeviceMemory& memory = *run.engine.executors()[action.device]->memory();
  std::byte* on_cpu = run.memory.Addresses(kCpuDevice)[action.value];
  std::byte* on_device = run.memory.Addresses(action.device)[action.value];
  const GivenInput* given = nullptr;
  if (value.producer == Value::kHost && run.reads_given_inputs) {
    given = run.engine.FindGivenInput(value.tensor);
  }
  if (given != nullptr && given->is_on_device) {
    memory.CopyMade(given->data, value.bytes, on_device);
  } else if (given != nullptr) {
    memory.CopyGiven(given->data, value.bytes, on_device);
  } else if (action.kind == Action::kCopyIn) {
    memory.CopyIn(on_cpu, value.bytes, on_device);
  } else {
    memory.CopyOut(on_device, value.bytes, on_cpu);
  }
}

}  // namespace

void RunPlan(const PlanRun& run, PlanProfile* profile) {
  const std::span<const Action> actions = run.schedule.actions;
  for (size_t a = 0; a < actions.size(); ++a) {
    const Action& action = actions[a];
    if (action.kind == Action::kRun) {
      run.segments[action.part]->Run({.places = run.memory.Addresses(action.device),
                                      .profiling = profile != nullptr,
                                      .profiler = run.profiler});
    } else if (profile == nullptr) {
      Copy(run, action);
    } else {
      profile->TimeCopy(a, [&] { Copy(run, action); });
    }
  }
}

}  // namespace larq_engine
