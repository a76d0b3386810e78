#include "larq_engine/runtime/ops/op_info.h"

#include "larq_engine/runtime/ops/layer_name.h"

namespace larq_engine {

std::string LayerName(const OpInfo& op) {
  std::vector<std::string_view> constants;
  for (const TensorInfo& input : op.inputs) {
    if (input.constant != nullptr) constants.push_back(input.name);
  }
  return LayerName(op.output.name, constants);
}

}  // namespace larq_engine
