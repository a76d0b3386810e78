// When the values that pass between parts live in each device's memory, and where they lie there.
// All functions are pure. Lifetimes follow from the schedule, offsets also from the values' sizes.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_LAYOUT_H_
#define LARQ_ENGINE_RUNTIME_PLAN_LAYOUT_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/runtime/plan/schedule.h"

namespace larq_engine {

// A value in a device's memory, from the first action that writes it there to the last that reads
// it there. Actions are numbered in the order of the schedule.
struct Lifetime {
  size_t value;
  size_t first;
  size_t last;
  bool operator==(const Lifetime&) const = default;
};

// Returns the lifetimes in the memory of each of `devices` devices, in the order in which they
// begin. Left out are constants, values that one part makes and alone reads, and, on the CPU,
// values in the host's own tensors.
std::vector<std::vector<Lifetime>> FindLifetimes(std::span<const ScheduleOp> ops,
                                                 std::span<const ScheduleValue> values,
                                                 const Schedule& schedule, size_t devices);

struct ArenaLayout {
  size_t bytes = 0;
  std::vector<size_t> offsets;  // for each lifetime
};

// Places the values of one memory in an arena; `value_bytes` has the size of each of the program's
// values. Throws std::bad_alloc if the arena would exceed what memory can hold.
ArenaLayout PlaceValues(std::span<const Lifetime> lifetimes, std::span<const size_t> value_bytes);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_LAYOUT_H_
