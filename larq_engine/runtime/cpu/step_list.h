// Which steps compute a segment's operators: a pure function of the program. Mostly one for each;
// concatenations, and what reads them channel by channel, are taken apart.
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
    kChannels,  // some of its channels, from the input's, which are as many
    kJoin,      // copies those to where they belong in its output
  };
  Kind kind;
  size_t op;                                         // of the program
  std::vector<size_t> inputs;                        // values of the program, or parts of them
  size_t output;                                     // likewise
  ChannelRange channels = {.first = 0, .count = 0};  // unless kWhole
  std::vector<size_t> absorbed = {};                 // of the program: what it computes as well
  bool operator==(const ListedStep&) const = default;
};

// Some channels of a value, which nothing but the segment needs: after the program's values it has
// the next number.
struct PartValue {
  size_t whole;
  int64_t channels;
  bool operator==(const PartValue&) const = default;
};

struct StepList {
  std::vector<ListedStep> steps;
  std::vector<PartValue> parts;
  bool operator==(const StepList&) const = default;
};

// How many steps read each value.
std::map<size_t, size_t> CountReaders(std::span<const ListedStep> steps);

// Those that no other step has absorbed, in their order.
std::vector<ListedStep> WithoutAbsorbed(std::vector<ListedStep> steps,
                                        const std::vector<bool>& is_absorbed);

// For the shapes that the program has now. What is done to each channel of a concatenation by
// itself is done to its parts where they are made, while they are in the cache, for all readers to
// come. So nobody reads a block's channels once for each of its layers, and of a concatenation that
// only such operators and other concatenations read there is nothing. What is needed whole is
// copied together part by part. Convolutions compute residual sums (residual_sums.h), poolings
// products (pooled_products.h), and one step all groups of a convolution (grouped_convs.h).
StepList ListSteps(const Program& program, std::span<const size_t> ops,
                   const std::vector<bool>& is_shared, bool fuse);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_STEP_LIST_H_
