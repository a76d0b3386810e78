// An operator as a file has it, before it is checked: its tensors and options.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_INFO_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_INFO_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/ops/builtin_options.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

// Tensors are in the file's order. If an operator makes several, `output` is one of them.
struct OpInfo {
  std::vector<TensorInfo> inputs;
  TensorInfo output;
  size_t output_number = 0;
  size_t outputs = 1;
  std::span<const uint8_t> options = {};
  BuiltinOptions builtin_options = {};
  std::shared_ptr<const OpInfo> weights = nullptr;  // the LceUnpackWeights that makes input 1
};

// See layer_name.h.
std::string LayerName(const OpInfo& op);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_INFO_H_
