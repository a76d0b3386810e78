// An operator as a file has it, before it is checked: its tensors and options, free of the host's
// structures.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_INFO_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_INFO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/runtime/ops/tensor_info.h"
#include "larq_engine/runtime/ops/window2d.h"

namespace larq_engine {

// Which dimensions of a box begin or end where the tensor does, a bit for each.
struct StridedSliceMasks {
  int begin_mask;
  int end_mask;
};

// What the file says of an operator of the host.
struct HostOptions {
  std::optional<Activation> activation = Activation::kNone;  // nothing for one that we do not know
  int axis = 0;                                              // concatenation
  // Pooling and convolution, whose filter's sizes are its tensor's; nothing for one that we do not
  // know.
  std::optional<Window2d> window = {};
  int depth_multiplier = 1;                             // depthwise convolution
  bool keep_dims = false;                               // dense layers, means
  float beta = 1;                                       // softmax
  std::optional<StridedSliceMasks> strided_slice = {};  // nothing for one that we do not know
};

// Tensors are in the file's order. Of an operator that makes several, `output` is one of them.
struct OpInfo {
  std::vector<TensorInfo> inputs;
  TensorInfo output;
  size_t output_number = 0;
  size_t outputs = 1;
  std::span<const uint8_t> options = {};
  HostOptions host_options = {};
  std::shared_ptr<const OpInfo> weights = nullptr;  // the LceUnpackWeights that makes input 1
};

// See layer_name.h.
std::string LayerName(const OpInfo& op);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_INFO_H_
