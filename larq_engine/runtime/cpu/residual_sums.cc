#include "larq_engine/runtime/cpu/residual_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/op_channels.h"

namespace larq_engine {
namespace {

// A convolution and the operators after it, each of which is the only reader of the one before.
struct Chain {
  size_t convolution;               // index of a step
  std::vector<size_t> inputs;       // values that the convolution and the product with a gate read
  std::vector<size_t> others = {};  // indices of steps: that product, a PRELU
  bool has_prelu = false;
};

class Chains {
 public:
  Chains(const Program& program, const std::vector<bool>& is_shared,
         const std::vector<ListedStep>& steps)
      : program_(program) {
    std::map<size_t, size_t> readers = CountReaders(steps);
    for (size_t i = 0; i < steps.size(); ++i) {
      const ListedStep& step = steps[i];
      if (step.kind != ListedStep::kWhole || is_shared[step.output] || readers[step.output] != 1) {
        continue;
      }
      if (std::optional<Chain> chain = EndingWith(step, i)) {
        chains_.emplace(step.output, *std::move(chain));
      }
    }
  }

  // Returns the chain that leads to the sum; of two, the one whose convolution comes last. Null if
  // there is none.
  const Chain* Before(const ListedStep& step) const {
    const Chain* last = nullptr;
    if (step.kind != ListedStep::kWhole || !IsSum(step)) return last;
    for (size_t input : step.inputs) {
      const Chain* chain = Find(input);
      if (chain != nullptr && (last == nullptr || chain->convolution > last->convolution)) {
        last = chain;
      }
    }
    return last;
  }

 private:
  const Chain* Find(size_t value) const {
    const auto found = chains_.find(value);
    return found == chains_.end() ? nullptr : &found->second;
  }

  std::optional<Chain> EndingWith(const ListedStep& step, size_t index) const {
    const Op& op = *program_.op(step.op).op;
    const auto* conv = std::get_if<Bconv2dOp>(&op);
    if (conv != nullptr && conv->transform.kind == OutputKind::kFloat) {
      return Chain{.convolution = index, .inputs = step.inputs};
    }
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const Chain* found = Find(step.inputs[i]);
      if (found == nullptr) continue;
      Chain chain = *found;
      if (chain.others.empty() && IsGated(step, i)) {
        chain.inputs.push_back(step.inputs[1 - i]);
      } else if (!chain.has_prelu && IsPrelu(step)) {
        chain.has_prelu = true;
      } else {
        continue;
      }
      chain.others.push_back(index);
      return chain;
    }
    return std::nullopt;
  }

  const std::vector<int>& Dims(size_t value) const { return program_.value(value).shape.dims; }

  const BinaryOp* OfTensors(const ListedStep& step, ChannelOp::Kind kind) const {
    const auto* op = std::get_if<BinaryOp>(program_.op(step.op).op.get());
    return op != nullptr && op->kind == kind && step.inputs.size() == 2 ? op : nullptr;
  }

  bool IsSum(const ListedStep& step) const {
    return OfTensors(step, ChannelOp::kAdd) != nullptr &&
           Dims(step.inputs[0]) == Dims(step.inputs[1]);
  }

  // Tells whether the step is a product with a gate: each image has one value for each channel, or
  // all images share them.
  bool IsGated(const ListedStep& step, size_t input) const {
    const BinaryOp* op = OfTensors(step, ChannelOp::kMultiply);
    if (op == nullptr || op->activation != Activation::kNone) return false;
    const std::vector<int>& dims = Dims(step.inputs[input]);
    if (Dims(step.output) != dims) return false;
    const std::vector<int>& gate = Dims(step.inputs[1 - input]);
    const bool is_of_all = !gate.empty() && gate.back() == dims[3] && CountPixels(gate) == 1;
    return is_of_all || gate == std::vector<int>{dims[0], 1, 1, dims[3]};
  }

  bool IsPrelu(const ListedStep& step) const {
    const Op& op = *program_.op(step.op).op;
    const std::vector<int>& dims = Dims(step.output);
    return std::holds_alternative<PreluOp>(op) && dims == Dims(step.inputs[0]) &&
           IsChannelwise(op, dims.back());
  }

  const Program& program_;
  std::map<size_t, Chain> chains_;  // indexed by the values that they make
};

}  // namespace

std::vector<ListedStep> WithSums(const Program& program, const std::vector<bool>& is_shared,
                                 std::vector<ListedStep> steps) {
  const Chains chains(program, is_shared, steps);
  std::vector<bool> is_absorbed(steps.size());
  for (ListedStep& sum : steps) {
    const Chain* chain = chains.Before(sum);
    if (chain == nullptr) continue;
    const size_t last = chain->others.empty() ? chain->convolution : chain->others.back();
    const size_t addend = sum.inputs[sum.inputs[0] == steps[last].output ? 1 : 0];
    ListedStep whole = {.kind = ListedStep::kWhole,
                        .op = steps[chain->convolution].op,
                        .inputs = chain->inputs,
                        .output = sum.output};
    whole.inputs.push_back(addend);
    is_absorbed[chain->convolution] = true;
    for (size_t other : chain->others) {
      whole.absorbed.push_back(steps[other].op);
      is_absorbed[other] = true;
    }
    whole.absorbed.push_back(sum.op);
    sum = std::move(whole);
  }
  return WithoutAbsorbed(std::move(steps), is_absorbed);
}

}  // namespace larq_engine
