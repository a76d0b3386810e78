#include "larq_engine/runtime/cpu/grouped_convs.h"

#include <optional>

namespace larq_engine {
namespace {

class GroupFinder {
 public:
  GroupFinder(const Program& program, std::span<const size_t> ops,
              const std::vector<bool>& is_shared)
      : program_(program), is_shared_(is_shared), is_here_(program.ops().size()) {
    for (size_t op : ops) is_here_[op] = true;
  }

  std::optional<ListedStep> EndingWith(size_t joining) const {
    const ProgramOp& join = program_.op(joining);
    if (!std::holds_alternative<ConcatenationOp>(*join.op)) return std::nullopt;
    ListedStep step = {
        .kind = ListedStep::kWhole, .op = 0, .inputs = {}, .output = join.output, .absorbed = {}};
    std::vector<size_t> slices;
    for (size_t group = 0; group < join.inputs.size(); ++group) {
      const std::optional<size_t> conv = MakerFor<Conv2dOp>(join.inputs[group]);
      if (!conv) return std::nullopt;
      const std::optional<size_t> slice = MakerFor<SliceOp>(program_.op(*conv).inputs[0]);
      if (!slice) return std::nullopt;
      const size_t whole = program_.op(*slice).inputs[0];
      if (group == 0) {
        step.op = *conv;
        step.inputs = {whole};
      } else {
        step.absorbed.push_back(*conv);
      }
      slices.push_back(*slice);
      if (whole != step.inputs[0] || !AreAlike(program_.op(step.op), program_.op(*conv)) ||
          !IsGroup(program_.op(*slice), group, join.inputs.size())) {
        return std::nullopt;
      }
    }
    step.absorbed.insert(step.absorbed.end(), slices.begin(), slices.end());
    step.absorbed.push_back(joining);
    return step;
  }

 private:
  // Returns the operator that makes the value, if it is a T of this segment and only one operator
  // reads the value.
  template <typename T>
  std::optional<size_t> MakerFor(size_t value) const {
    const Value& made = program_.value(value);
    if (made.producer == Value::kHost || is_shared_[value] || made.readers.size() != 1) {
      return std::nullopt;
    }
    const auto producer = static_cast<size_t>(made.producer);
    if (!is_here_[producer] || !std::holds_alternative<T>(*program_.op(producer).op)) {
      return std::nullopt;
    }
    return producer;
  }

  static bool AreAlike(const ProgramOp& first, const ProgramOp& other) {
    const auto kernel = [](const ProgramOp& op) { return op.place ? op.place->kernel : ""; };
    const auto& a = std::get<Conv2dOp>(*first.op);
    const auto& b = std::get<Conv2dOp>(*other.op);
    return a.spec == b.spec && !a.spec.is_depthwise && a.activation == b.activation &&
           kernel(first) == kernel(other);
  }

  // Tells whether the slice takes the channels of group `group` of `groups` from all pixels, and
  // nothing else.
  bool IsGroup(const ProgramOp& op, size_t group, size_t groups) const {
    const std::vector<int>& dims = program_.value(op.inputs[0]).shape.dims;
    const std::vector<SliceOp::Range> box = std::get<SliceOp>(*op.op).Ranges(dims);
    for (size_t i = 0; i + 1 < box.size(); ++i) {
      if (box[i].end - box[i].begin != dims[i]) return false;
    }
    const int64_t channels = dims.back() / static_cast<int64_t>(groups);
    return box.back().begin == static_cast<int64_t>(group) * channels &&
           box.back().end == box.back().begin + channels &&
           channels * static_cast<int64_t>(groups) == dims.back();
  }

  const Program& program_;
  const std::vector<bool>& is_shared_;
  std::vector<bool> is_here_;  // for each of the program's operators: it is in this segment
};

}  // namespace

std::map<size_t, ListedStep> FindGroupedConvs(const Program& program, std::span<const size_t> ops,
                                              const std::vector<bool>& is_shared) {
  const GroupFinder finder(program, ops, is_shared);
  std::map<size_t, ListedStep> found;
  for (size_t op : ops) {
    if (std::optional<ListedStep> step = finder.EndingWith(op)) found.emplace(op, *std::move(step));
  }
  return found;
}

}  // namespace larq_engine
