#include "larq_engine/runtime/plan/layout.h"

#include <cstdint>
#include <utility>

#include "larq_engine/runtime/plan/arena.h"
#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

// The lifetimes in one memory.
class LifetimeList {
 public:
  explicit LifetimeList(size_t values) : found_(values, kNone) {}

  // Must be called in the order of actions.
  void Add(size_t value, size_t action) {
    if (found_[value] == kNone) {
      found_[value] = lifetimes_.size();
      lifetimes_.push_back({.value = value, .first = action, .last = action});
    }
    lifetimes_[found_[value]].last = action;
  }

  std::vector<Lifetime> Take() { return std::move(lifetimes_); }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> found_;  // for each value: its index in lifetimes_
  std::vector<Lifetime> lifetimes_;
};

}  // namespace

std::vector<std::vector<Lifetime>> FindLifetimes(std::span<const ScheduleOp> ops,
                                                 std::span<const ScheduleValue> values,
                                                 const Schedule& schedule, size_t devices) {
  std::vector<LifetimeList> lists(devices, LifetimeList(values.size()));
  const auto add = [&](size_t v, size_t device, size_t action) {
    if (!schedule.is_shared[v] || values[v].is_constant) return;
    if (device == kCpuDevice && values[v].LivesInHost()) return;
    lists[device].Add(v, action);
  };
  for (size_t a = 0; a < schedule.actions.size(); ++a) {
    const Action& action = schedule.actions[a];
    if (action.kind != Action::kRun) {
      add(action.value, kCpuDevice, a);
      add(action.value, action.device, a);
      continue;
    }
    for (size_t i : schedule.parts[action.part].ops) {
      for (size_t input : ops[i].inputs) add(input, action.device, a);
      add(ops[i].output, action.device, a);
    }
  }
  std::vector<std::vector<Lifetime>> lifetimes;
  for (LifetimeList& list : lists) lifetimes.push_back(list.Take());
  return lifetimes;
}

ArenaLayout PlaceValues(std::span<const Lifetime> lifetimes, std::span<const size_t> value_bytes) {
  std::vector<ArenaBuffer> buffers;
  for (const Lifetime& lifetime : lifetimes) {
    buffers.push_back(
        {.bytes = value_bytes[lifetime.value], .first = lifetime.first, .last = lifetime.last});
  }
  ArenaLayout layout;
  layout.bytes = PlaceBuffers(buffers);
  for (const ArenaBuffer& buffer : buffers) layout.offsets.push_back(buffer.offset);
  return layout;
}

}  // namespace larq_engine
