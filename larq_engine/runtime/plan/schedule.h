// The order of a run: parts of the program, each on one device, and the copies between them. It is
// a pure function of the operators' devices, and sizes do not matter.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_SCHEDULE_H_
#define LARQ_ENGINE_RUNTIME_PLAN_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace larq_engine {

struct ScheduleOp {
  std::vector<size_t> inputs;  // numbers of values
  size_t output;               // number of a value
  size_t device;
  bool is_first_half = false;  // of a layer that is cut: the next operator is the second half
};

struct ScheduleValue {
  int producer;              // number of an operator, or -1 for the host
  bool host_reads = false;   // the value must end in the host's memory
  bool is_constant = false;  // it is never copied in a run

  // Tells whether the value lies in one of the host's tensors.
  bool LivesInHost() const { return producer < 0 || host_reads; }
};

// Operators that a device computes without another device in between.
struct Part {
  size_t device;
  std::vector<size_t> ops;
  // It runs at the same time as the part before it, and reads none of that part's results.
  bool overlaps_previous = false;
};

// One piece of a run. Actions happen one after the other.
struct Action {
  enum Kind : uint8_t { kRun, kCopyIn, kCopyOut };
  Kind kind;
  size_t device;     // runs the part, or has the memory that the value is copied into or out of
  size_t part = 0;   // to run
  size_t value = 0;  // to copy
};

struct Schedule {
  std::vector<Part> parts;      // in the order in which they run
  std::vector<bool> is_shared;  // for each value: more than one part uses it, or the host
  std::vector<Action> actions;
};

// Puts each operator into the first part on its device that runs after all its inputs are made. If
// two devices compute the halves of a layer at the same time, each half begins a part. The part on
// the device with its own memory comes first: it runs until its results are needed, so the CPU's
// part, which overlaps it, must not need any.
//
// A copy in comes before the first part that reads the value on the device. A copy out waits for
// all queued work, so it comes as late as possible: before the first part that reads the value in
// the host's memory, or before the part that this one overlaps, or at the end. Between two devices
// with their own memory, a value is copied out and in again.
Schedule MakeSchedule(std::span<const ScheduleOp> ops, std::span<const ScheduleValue> values);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_SCHEDULE_H_
