// Batch norms that nothing but a quantization reads: products and sums that never run, because the
// quantization compares their input instead.
#include <algorithm>

#include "larq_engine/runtime/plan.h"

namespace larq_engine {

// The steps of one operation a channel each that lead to `last` and nowhere else, in order.
std::vector<size_t> Plan::ChannelOpsBefore(const Steps& steps, const std::vector<int>& readers,
                                           const PlannedStep& last) const {
  std::vector<size_t> chain;
  for (int at = last.producers[0]; at >= 0;) {
    const auto index = static_cast<size_t>(at);
    const PlannedStep& planned = *steps[index];
    if (planned.step->channel_op() == nullptr || readers[index] > 1 ||
        host_outputs_.contains(planned.node.outputs[0])) {
      break;
    }
    chain.push_back(index);
    at = planned.producers[0];
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void Plan::AbsorbSteps(Steps& steps) const {
  std::vector<int> readers(steps.size());
  for (const auto& planned : steps) {
    for (int producer : planned->producers) {
      if (producer >= 0) ++readers[static_cast<size_t>(producer)];
    }
  }
  for (auto& planned : steps) {
    // Each chain leads to one of these alone, so that all of them together are no longer than
    // steps.
    if (!planned->step->can_absorb()) continue;
    const std::vector<size_t> chain = ChannelOpsBefore(steps, readers, *planned);
    std::vector<const ChannelOp*> ops;
    for (size_t member : chain) ops.push_back(steps[member]->step->channel_op());
    if (ops.empty() || !planned->step->Absorb(ops)) continue;
    const PlannedStep& first = *steps[chain[0]];
    planned->node.inputs[0] = first.node.inputs[first.step->data_inputs()[0]];
    planned->producers = first.producers;
    for (size_t member : chain) planned->absorbed.push_back(std::move(steps[member]));
  }
  Steps left;
  std::vector<int> left_index(steps.size(), -1);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == nullptr) continue;
    for (int& producer : steps[i]->producers) {
      if (producer >= 0) producer = left_index[static_cast<size_t>(producer)];
    }
    left_index[i] = static_cast<int>(left.size());
    left.push_back(std::move(steps[i]));
  }
  steps = std::move(left);
}

}  // namespace larq_engine
