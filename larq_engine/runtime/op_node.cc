#include "larq_engine/runtime/op_node.h"

#include "larq_engine/runtime/layer_name.h"

namespace larq_engine {

OpInfo DescribeOp(const TfLiteContext& context, const OpNode& node) {
  OpInfo op;
  for (int tensor : node.inputs) op.inputs.push_back(DescribeTensor(context, tensor));
  if (node.outputs.size() != 1) {
    throw OpError("expected 1 output, got " + std::to_string(node.outputs.size()) +
                  "; re-convert the model");
  }
  op.output = DescribeTensor(context, node.outputs[0]);
  if (op.output.constant != nullptr) {
    throw OpError(
        "output: expected a tensor that is computed, got a constant; the file is corrupted");
  }
  op.options = node.options;
  op.host_options = node.host_options;
  return op;
}

std::string LayerName(const OpInfo& op) {
  std::vector<std::string_view> constants;
  for (const TensorInfo& input : op.inputs) {
    if (input.constant != nullptr) constants.push_back(input.name);
  }
  return LayerName(op.output.name, constants);
}

std::string ErrorStart(const OpNode& node, const std::string& layer) {
  std::string text = node.op;
  if (!layer.empty()) text += " '" + layer + "'";
  if (node.index >= 0) text += " (#" + std::to_string(node.index) + ")";
  return text + ": ";
}

}  // namespace larq_engine
