#include "larq_engine/runtime/plan/schedule.h"

#include <algorithm>
#include <utility>

#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

class PartMaker {
 public:
  PartMaker(std::span<const ScheduleOp> ops, std::span<const ScheduleValue> values)
      : ops_(ops), values_(values), part_of_(ops.size()) {}

  std::vector<Part> Make() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].is_first_half && ops_[i].device != ops_[i + 1].device) {
        const bool is_reversed = ops_[i].device == kCpuDevice;
        Put(is_reversed ? i + 1 : i, parts_.size());
        Put(is_reversed ? i : i + 1, parts_.size());
        parts_.back().overlaps_previous = true;
        ++i;
        continue;
      }
      size_t part = 0;
      for (size_t input : ops_[i].inputs) part = std::max(part, FirstAfter(input, ops_[i].device));
      while (part < parts_.size() && parts_[part].device != ops_[i].device) ++part;
      Put(i, part);
    }
    return std::move(parts_);
  }

  // Returns the part of each operator.
  std::span<const size_t> part_of() const { return part_of_; }

 private:
  void Put(size_t op, size_t part) {
    if (part == parts_.size()) parts_.push_back({.device = ops_[op].device, .ops = {}});
    parts_[part].ops.push_back(op);
    part_of_[op] = part;
  }

  // Returns the first part that may read the value, if it is on this device.
  size_t FirstAfter(size_t value, size_t device) const {
    const int producer = values_[value].producer;
    if (producer < 0) return 0;
    const size_t made = part_of_[static_cast<size_t>(producer)];
    const bool must_wait = made + 1 < parts_.size() && parts_[made + 1].overlaps_previous &&
                           parts_[made + 1].device == device;
    return must_wait ? made + 2 : made;
  }

  std::span<const ScheduleOp> ops_;
  std::span<const ScheduleValue> values_;
  std::vector<Part> parts_;
  std::vector<size_t> part_of_;
};

std::vector<bool> FindShared(std::span<const ScheduleOp> ops, std::span<const ScheduleValue> values,
                             std::span<const size_t> part_of) {
  std::vector<bool> is_shared;
  for (const ScheduleValue& value : values) is_shared.push_back(value.LivesInHost());
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t input : ops[i].inputs) {
      const int producer = values[input].producer;
      if (producer >= 0 && part_of[static_cast<size_t>(producer)] != part_of[i])
        is_shared[input] = true;
    }
  }
  return is_shared;
}

class ActionMaker {
 public:
  ActionMaker(std::span<const ScheduleOp> ops, std::span<const ScheduleValue> values)
      : ops_(ops), values_(values), holders_(values.size()) {}

  std::vector<Action> Make(std::span<const Part> parts) {
    for (size_t p = 0; p < parts.size(); ++p) {
      if (p + 1 < parts.size() && parts[p + 1].overlaps_previous) NeedInputs(parts[p + 1]);
      NeedInputs(parts[p]);
      actions_.push_back({.kind = Action::kRun, .device = parts[p].device, .part = p});
    }
    for (size_t v = 0; v < values_.size(); ++v) {
      if (values_[v].host_reads) Need(v, kCpuDevice);
    }
    return std::move(actions_);
  }

 private:
  void NeedInputs(const Part& part) {
    for (size_t i : part.ops) {
      for (size_t input : ops_[i].inputs) Need(input, part.device);
    }
  }

  // Adds the copies that bring the value into the device's memory, unless it is there.
  void Need(size_t v, size_t device) {
    const ScheduleValue& value = values_[v];
    const size_t home =
        value.producer < 0 ? kCpuDevice : ops_[static_cast<size_t>(value.producer)].device;
    if (value.is_constant || device == home || Holds(v, device)) return;
    if (device == kCpuDevice) {
      actions_.push_back({.kind = Action::kCopyOut, .device = home, .value = v});
    } else {
      Need(v, kCpuDevice);
      actions_.push_back({.kind = Action::kCopyIn, .device = device, .value = v});
    }
    holders_[v].push_back(device);
  }

  bool Holds(size_t v, size_t device) const {
    return std::find(holders_[v].begin(), holders_[v].end(), device) != holders_[v].end();
  }

  std::span<const ScheduleOp> ops_;
  std::span<const ScheduleValue> values_;
  std::vector<std::vector<size_t>> holders_;  // for each value: devices that it was copied to
  std::vector<Action> actions_;
};

}  // namespace

Schedule MakeSchedule(std::span<const ScheduleOp> ops, std::span<const ScheduleValue> values) {
  PartMaker maker(ops, values);
  Schedule schedule;
  schedule.parts = maker.Make();
  schedule.is_shared = FindShared(ops, values, maker.part_of());
  schedule.actions = ActionMaker(ops, values).Make(schedule.parts);
  return schedule;
}

}  // namespace larq_engine
