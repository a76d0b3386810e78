// Chooses the steps that compute a segment's operators: a pure function of the program. Most
// operators have one step. Concatenations, and operators that read them channel by channel, are
// computed in parts.
#ifndef LARQ_ENGINE_RUNTIME_CPU_STEP_LIST_H_
#define LARQ_ENGINE_RUNTIME_CPU_STEP_LIST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

struct ChannelRange {
  int64_t first;
  int64_t count;
  bool operator==(const ChannelRange&) const = default;
};

struct ListedStep {
  enum Kind : uint8_t {
    kWhole,     // computes the operator
    kChannels,  // computes some channels of the operator, from as many of the input's
    kJoin,      // copies some channels to their place in the output
  };
  Kind kind;
  size_t op;                   // number in the program
  std::vector<size_t> inputs;  // numbers of values of the program, or of parts of them
  size_t output;               // number of a value or part
  ChannelRange channels = {.first = 0, .count = 0};  // unless kWhole
  std::vector<size_t> absorbed = {};                 // other operators that it computes as well
  bool operator==(const ListedStep&) const = default;
};

// Some channels of a value that only the segment needs. Parts are numbered after the program's
// values.
struct PartValue {
  size_t whole;
  int64_t channels;
  bool operator==(const PartValue&) const = default;
};

struct StepList {
  std::vector<ListedStep> steps;
  std::vector<PartValue> parts;
  // Values that are another one in another shape, and that other one. No step makes them.
  std::map<size_t, size_t> reshaped = {};

  // Returns the value that lies in memory for a value.
  size_t Stored(size_t value) const {
    const auto found = reshaped.find(value);
    return found == reshaped.end() ? value : found->second;
  }
  bool operator==(const StepList&) const = default;
};

// Returns how many steps read each value.
std::map<size_t, size_t> CountReaders(std::span<const ListedStep> steps);

// Returns the steps that no other step has absorbed, in their order.
std::vector<ListedStep> WithoutAbsorbed(std::vector<ListedStep> steps,
                                        const std::vector<bool>& is_absorbed);

// Lists the steps for the program's current shapes.
//
// An operation on each channel of a concatenation by itself is computed on the concatenation's
// parts as soon as they are made, while they are in the cache, and for all later readers. So a
// block's channels are not read once for each of its layers. A concatenation that is read only by
// such operators and by other concatenations is never written. A value that is needed whole is
// copied together part by part.
//
// Convolutions also compute residual sums (residual_sums.h), poolings compute products
// (pooled_products.h), and one step computes all groups of a convolution (grouped_convs.h). An
// operator that makes only a value's shape another has no step if only the segment needs its
// result.
StepList ListSteps(const Program& program, std::span<const size_t> ops,
                   const std::vector<bool>& is_shared, bool fuse);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_STEP_LIST_H_
