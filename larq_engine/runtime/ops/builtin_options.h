// The options of an operator of TensorFlow Lite as values.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BUILTIN_OPTIONS_H_
#define LARQ_ENGINE_RUNTIME_OPS_BUILTIN_OPTIONS_H_

#include <optional>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/window.h"
#include "larq_engine/model_file/file_options.h"

namespace larq_engine {

// Marks with one bit for each dimension where a box begins or ends at the tensor's own end.
struct StridedSliceMasks {
  int begin_mask;
  int end_mask;
};

struct BuiltinOptions {
  FileOptions file = {};  // all of them, unchecked
  // The rest is empty if it is unknown to us.
  std::optional<Activation> activation = Activation::kNone;
  // For pooling and convolution; a convolution's filter sizes are those of its tensor. Hosts keep
  // dilated convolutions, which have a `dilated_window` only.
  std::optional<Window2d> window = {};
  std::optional<Window2d> dilated_window = {};
  std::optional<StridedSliceMasks> strided_slice = {};
};

// `code` is the operator's number. `file` is null if the file has no options for it. Returns
// nothing if the operator cannot be computed without them.
std::optional<BuiltinOptions> ReadBuiltinOptions(int code, const FileOptions* file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BUILTIN_OPTIONS_H_
