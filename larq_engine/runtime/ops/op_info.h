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

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/window.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

// Marks with one bit for each dimension where a box begins or ends at the tensor's own end.
struct StridedSliceMasks {
  int begin_mask;
  int end_mask;
};

// The file's options of an operator of the host.
struct HostOptions {
  std::optional<Activation> activation = Activation::kNone;  // empty if unknown to us
  int axis = 0;                                              // for concatenations
  // For pooling and convolution; a convolution's filter sizes are those of its tensor. Empty if
  // unknown to us.
  std::optional<Window2d> window = {};
  int depth_multiplier = 1;                             // depthwise convolution
  bool keep_dims = false;                               // dense layers, means
  float beta = 1;                                       // softmax
  std::optional<StridedSliceMasks> strided_slice = {};  // empty if unknown to us
};

// Tensors are in the file's order. If an operator makes several, `output` is one of them.
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
