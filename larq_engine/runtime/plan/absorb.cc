// Absorbs batch norms that only a quantization reads: their products and sums never run, because
// the quantization compares their input with other limits instead.
#include <algorithm>

#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {
namespace {

// Returns a sum or product with a constant; null for other operators.
const BinaryOp* AsChannelOp(const Op& op) {
  const auto* binary = std::get_if<BinaryOp>(&op);
  const bool is_one = binary != nullptr && binary->data_inputs.size() == 1 &&
                      binary->activation == Activation::kNone;
  return is_one ? binary : nullptr;
}

bool IsPlacedApart(const ProgramOp& a, const ProgramOp& b) {
  return a.place && b.place && a.place->device != b.place->device;
}

}  // namespace

// Returns, in order, the operators before `last` that only lead to `last`, that each compute one
// operation per channel, and that are not placed elsewhere.
std::vector<size_t> Program::ChannelOpsBefore(const ProgramOp& last) const {
  std::vector<size_t> chain;
  size_t value = last.inputs[0];
  while (values_[value].producer != Value::kHost) {
    const size_t producer = static_cast<size_t>(values_[value].producer);
    if (AsChannelOp(*ops_[producer]->op) == nullptr || values_[value].readers.size() > 1 ||
        values_[value].host_reads || IsPlacedApart(*ops_[producer], last)) {
      break;
    }
    chain.push_back(producer);
    value = ops_[producer]->inputs[0];
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void Program::Absorb() {
  for (size_t i = 0; i < ops_.size(); ++i) {
    // Each chain leads to one quantization only, so all chains together are no longer than the
    // program.
    ProgramOp& last = *ops_[i];
    auto* quantize = std::get_if<QuantizeOp>(last.op.get());
    if (quantize == nullptr || quantize->from != ElementType::kFloat32 || quantize->bits > 1)
      continue;
    const std::vector<size_t> chain = ChannelOpsBefore(last);
    std::vector<ChannelOp> operations;
    for (size_t member : chain) {
      const BinaryOp& op = *AsChannelOp(*ops_[member]->op);
      operations.push_back({.kind = op.kind, .constants = op.constant});
    }
    if (operations.empty()) continue;
    quantize->limits = FindQuantizeLimits(operations);
    if (!quantize->limits.has_value()) continue;
    last.inputs[0] = ops_[chain[0]]->inputs[0];
    for (size_t member : chain) {
      const std::optional<OpPlacement>& place = ops_[member]->place;
      if (place && !last.place) last.place = OpPlacement{.device = place->device};
      last.absorbed.push_back(std::move(ops_[member]));
    }
  }
  std::erase(ops_, nullptr);
  Renumber();
}

}  // namespace larq_engine
