#include "larq_engine/runtime/cpu/pooled_products.h"

#include <map>
#include <utility>

#include "larq_engine/kernels/pixels/pool.h"
#include "larq_engine/runtime/ops/op_channels.h"

namespace larq_engine {
namespace {

// Tells whether the operator multiplies each channel by a constant. A constant of several channels
// may turn one channel into several; that does not count.
bool IsProductWithConstant(const Program& program, const ProgramOp& op) {
  const auto* binary = std::get_if<BinaryOp>(op.op.get());
  if (binary == nullptr || binary->kind != ChannelOp::kMultiply ||
      binary->activation != Activation::kNone || op.inputs.size() != 1) {
    return false;
  }
  const std::vector<int>& dims = program.value(op.output).shape.dims;
  return dims == program.value(op.inputs[0]).shape.dims && !dims.empty() &&
         IsChannelwise(*op.op, dims.back());
}

bool PoolsPixels(const Op& op, const std::vector<int>& image) {
  const auto* pool = std::get_if<MaxPool2dOp>(&op);
  return pool != nullptr && !pool->of_bits && ReducesPixels(pool->window.Over(image[1], image[2]));
}

}  // namespace

std::vector<ListedStep> WithPooledProducts(const Program& program,
                                           const std::vector<bool>& is_shared,
                                           std::vector<ListedStep> steps) {
  std::map<size_t, size_t> readers = CountReaders(steps);
  std::map<size_t, size_t> products;  // for values that only a pooling may read: steps
  std::vector<bool> is_absorbed(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    ListedStep& step = steps[i];
    if (step.kind == ListedStep::kJoin) continue;
    const ProgramOp& op = program.op(step.op);
    const bool is_shared_value = step.output < is_shared.size() && is_shared[step.output];
    if (IsProductWithConstant(program, op) && readers[step.output] == 1 && !is_shared_value) {
      products[step.output] = i;
    }
    const auto found = products.find(step.inputs[0]);
    if (found == products.end() || !PoolsPixels(*op.op, program.value(op.inputs[0]).shape.dims)) {
      continue;
    }
    const ListedStep& product = steps[found->second];
    step.inputs = product.inputs;
    step.absorbed = {product.op};
    is_absorbed[found->second] = true;
  }
  return WithoutAbsorbed(std::move(steps), is_absorbed);
}

}  // namespace larq_engine
