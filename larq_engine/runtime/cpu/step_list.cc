#include "larq_engine/runtime/cpu/step_list.h"

#include <algorithm>
#include <map>
#include <utility>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/cpu/fusion.h"
#include "larq_engine/runtime/cpu/grouped_convs.h"
#include "larq_engine/runtime/cpu/pooled_products.h"
#include "larq_engine/runtime/cpu/residual_sums.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/op_channels.h"

namespace larq_engine {
namespace {

// Limits of the parts of one concatenation, and of the steps for parts in all: the steps of a chain
// of concatenations would grow with the square of its length. A block of BinaryDenseNet45 has 13
// parts; the whole network has 600 steps.
constexpr size_t kMostParts = 64;
constexpr size_t kMostPartSteps = 10'000;

class Lister {
 public:
  Lister(const Program& program, std::span<const size_t> ops, const std::vector<bool>& is_shared)
      : program_(program),
        ops_(ops),
        is_shared_(is_shared),
        parts_(program.values().size()),
        is_made_(program.values().size()),
        is_needed_(is_shared),
        grouped_(FindGroupedConvs(program, ops, is_shared)),
        is_absorbed_(program.ops().size()) {
    for (const auto& [join, step] : grouped_) {
      is_absorbed_[step.op] = true;
      for (size_t op : step.absorbed) is_absorbed_[op] = true;
    }
    for (size_t index : ops) {
      const ProgramOp& op = program.op(index);
      is_in_parts_.push_back(!is_absorbed_[index] && TakeApart(op));
      is_made_[op.output] = true;
      if (is_in_parts_.back()) continue;
      for (size_t input : op.inputs) is_needed_[input] = true;
    }
  }

  StepList List() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      const size_t index = ops_[i];
      const ProgramOp& op = program_.op(index);
      if (const auto grouped = grouped_.find(index); grouped != grouped_.end()) {
        Add(grouped->second);
      } else if (is_absorbed_[index]) {
        continue;
      } else if (!is_in_parts_[i]) {
        Add({.kind = ListedStep::kWhole, .op = index, .inputs = op.inputs, .output = op.output});
      } else if (IsQuantization(op)) {
        AddEach(index, parts_[op.inputs[0]], {});
      } else {
        if (!IsConcatenation(op)) AddEach(index, parts_[op.inputs[0]], parts_[op.output]);
        if (is_needed_[op.output]) Join(index);
      }
    }
    std::vector<ListedStep> steps = MoveSmallStepsForward(InOrder());
    steps = WithPooledProducts(program_, is_shared_, std::move(steps));
    StepList list{.steps = WithSums(program_, is_shared_, std::move(steps)),
                  .parts = std::move(values_)};
    LeaveOutReshapes(list);
    return list;
  }

 private:
  static bool IsConcatenation(const ProgramOp& op) {
    return std::holds_alternative<ConcatenationOp>(*op.op);
  }
  static bool IsQuantization(const ProgramOp& op) {
    return std::holds_alternative<QuantizeOp>(*op.op);
  }

  int64_t Channels(size_t value) const {
    const size_t values = program_.values().size();
    return value < values ? program_.value(value).shape.dims.back()
                          : values_[value - values].channels;
  }

  // Tells whether the operator is computed in parts, and lists the parts of its output. An operator
  // that treats each channel by itself gets parts of its own for those of its input.
  bool TakeApart(const ProgramOp& op) {
    if (IsConcatenation(op)) return TakeApartConcatenation(op);
    if (op.inputs.size() != 1) return false;
    const std::vector<size_t>& parts = parts_[op.inputs[0]];
    if (parts.empty() || parts.size() > part_steps_left_ || !HasPixels(op) ||
        !IsChannelwise(*op.op, Channels(op.inputs[0]))) {
      return false;
    }
    part_steps_left_ -= parts.size();
    if (IsQuantization(op)) return true;
    for (size_t part : parts) {
      parts_[op.output].push_back(program_.values().size() + values_.size());
      values_.push_back({.whole = op.output, .channels = Channels(part)});
    }
    return true;
  }

  // A concatenation's parts include those of the concatenations that it reads. Each part is whole
  // words of bits; otherwise each layer of a block would need all parts of a word together. Inputs
  // that all come from outside the segment are copied at once, not in parts.
  bool TakeApartConcatenation(const ProgramOp& op) {
    const auto is_made = [&](size_t value) { return is_made_[value]; };
    const auto is_whole = [&](size_t value) {
      return Channels(value) % static_cast<int64_t>(kWordBits) == 0;
    };
    if (!HasPixels(op) || std::none_of(op.inputs.begin(), op.inputs.end(), is_made) ||
        !std::all_of(op.inputs.begin(), op.inputs.end(), is_whole)) {
      return false;
    }
    std::vector<size_t> parts;
    std::vector<size_t> whole;
    for (size_t input : op.inputs) {
      const std::vector<size_t>& inner = parts_[input];
      if (!inner.empty() && parts.size() + inner.size() <= kMostParts) {
        parts.insert(parts.end(), inner.begin(), inner.end());
      } else {
        parts.push_back(input);
        whole.push_back(input);
      }
    }
    if (parts.size() > part_steps_left_) return false;
    part_steps_left_ -= parts.size();
    for (size_t input : whole) is_needed_[input] = true;
    parts_[op.output] = std::move(parts);
    return true;
  }

  // Tells whether the output has enough pixels to be fused.
  bool HasPixels(const ProgramOp& op) const {
    return CountPixels(program_.value(op.output).shape.dims) >= kMinFusedPixels;
  }

  void Add(ListedStep step) { steps_.push_back(std::move(step)); }

  // Adds a step for each of the parts. It makes one of `made` or, if that is empty, a part of the
  // operator's output.
  void AddEach(size_t op, std::span<const size_t> parts, std::span<const size_t> made) {
    int64_t first = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      Add({.kind = ListedStep::kChannels,
           .op = op,
           .inputs = {parts[i]},
           .output = made.empty() ? program_.op(op).output : made[i],
           .channels = {.first = first, .count = Channels(parts[i])}});
      first += Channels(parts[i]);
    }
  }

  void Join(size_t op) {
    const size_t first = steps_.size();
    AddEach(op, parts_[program_.op(op).output], {});
    for (size_t i = first; i < steps_.size(); ++i) steps_[i].kind = ListedStep::kJoin;
  }

  // Returns the steps in an order in which the readers of a part follow as soon as the part is
  // made.
  std::vector<ListedStep> InOrder() {
    std::map<size_t, std::vector<size_t>> readers;  // for each value: steps of parts
    std::map<size_t, size_t> producers;  // for each value: producers that are still to come
    std::vector<bool> follows;           // for each step: it comes right after another
    for (size_t i = 0; i < steps_.size(); ++i) {
      const bool is_of_part = steps_[i].kind != ListedStep::kWhole;
      if (is_of_part) readers[steps_[i].inputs[0]].push_back(i);
      follows.push_back(is_of_part && IsMadeHere(steps_[i].inputs[0]));
      ++producers[steps_[i].output];
    }
    std::vector<ListedStep> ordered;
    std::vector<size_t> next;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!follows[i]) next.push_back(i);
      while (!next.empty()) {
        ListedStep& step = steps_[next.back()];
        next.pop_back();
        const auto found = readers.find(step.output);
        if (--producers[step.output] == 0 && found != readers.end()) {
          next.insert(next.end(), found->second.rbegin(), found->second.rend());
        }
        ordered.push_back(std::move(step));
      }
    }
    return ordered;
  }

  // Moves steps of few pixels to where their inputs are just made. So a gate, which is computed
  // from a layer's input, is made before the layer, and the product of both joins the layer's
  // group.
  std::vector<ListedStep> MoveSmallStepsForward(std::vector<ListedStep> steps) const {
    std::map<size_t, size_t> made_at;              // for each value: step after which it is made
    std::vector<std::pair<size_t, size_t>> order;  // step that it follows, and the step itself
    for (size_t i = 0; i < steps.size(); ++i) {
      const ListedStep& step = steps[i];
      size_t at = i + 1;
      if (step.kind == ListedStep::kWhole && !HasPixels(program_.op(step.op))) {
        at = 0;
        for (size_t input : step.inputs) {
          const auto found = made_at.find(input);
          if (found != made_at.end()) at = std::max(at, found->second);
        }
      }
      size_t& latest = made_at[step.output];
      latest = std::max(latest, at);
      order.emplace_back(at, i);
    }
    std::sort(order.begin(), order.end());
    std::vector<ListedStep> ordered;
    for (const auto& [at, i] : order) ordered.push_back(std::move(steps[i]));
    return ordered;
  }

  // Tells whether the operator's output is its input in another shape.
  bool OnlyReshapes(const ProgramOp& op) const {
    if (std::holds_alternative<ReshapeOp>(*op.op)) return true;
    const auto* view = std::get_if<ViewOp>(op.op.get());
    return view != nullptr && view->KeepsOrder(program_.value(op.inputs[0]).shape.dims);
  }

  void LeaveOutReshapes(StepList& list) const {
    std::erase_if(list.steps, [&](const ListedStep& step) {
      const bool is_left_out = step.kind == ListedStep::kWhole && !is_shared_[step.output] &&
                               OnlyReshapes(program_.op(step.op));
      if (is_left_out) list.reshaped[step.output] = list.Stored(step.inputs[0]);
      return is_left_out;
    });
  }

  bool IsMadeHere(size_t value) const { return value >= is_made_.size() || is_made_[value]; }

  const Program& program_;
  std::span<const size_t> ops_;
  const std::vector<bool>& is_shared_;      // for each of the program's values
  std::vector<std::vector<size_t>> parts_;  // for each value; no part has parts itself
  std::vector<bool> is_in_parts_;           // for each operator
  size_t part_steps_left_ = kMostPartSteps;
  std::vector<bool> is_made_;             // for each value: an operator here makes it
  std::vector<bool> is_needed_;           // for each value: it is needed whole
  std::map<size_t, ListedStep> grouped_;  // indexed by the operator that joins the groups
  std::vector<bool> is_absorbed_;  // for each of the program's operators: grouped_ has absorbed it
  std::vector<PartValue> values_;
  std::vector<ListedStep> steps_;
};

}  // namespace

std::map<size_t, size_t> CountReaders(std::span<const ListedStep> steps) {
  std::map<size_t, size_t> readers;
  for (const ListedStep& step : steps) {
    for (size_t input : step.inputs) ++readers[input];
  }
  return readers;
}

std::vector<ListedStep> WithoutAbsorbed(std::vector<ListedStep> steps,
                                        const std::vector<bool>& is_absorbed) {
  std::vector<ListedStep> left;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!is_absorbed[i]) left.push_back(std::move(steps[i]));
  }
  return left;
}

StepList ListSteps(const Program& program, std::span<const size_t> ops,
                   const std::vector<bool>& is_shared, bool fuse) {
  if (fuse) return Lister(program, ops, is_shared).List();
  StepList list;
  for (size_t op : ops) {
    list.steps.push_back({.kind = ListedStep::kWhole,
                          .op = op,
                          .inputs = program.op(op).inputs,
                          .output = program.op(op).output});
  }
  return list;
}

}  // namespace larq_engine
