#include "larq_engine/runtime/tensor_info.h"

#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/runtime/op_error.h"

namespace larq_engine {

TensorInfo DescribeTensor(const TfLiteContext& context, int index) {
  TensorInfo info;
  if (index == kTfLiteOptionalTensor) return info;
  if (index < 0 || static_cast<size_t>(index) >= context.tensors_size) {
    throw OpError("tensor #" + std::to_string(index) + " does not exist: the model has " +
                  std::to_string(context.tensors_size) + "; the file is corrupted");
  }
  const TfLiteTensor& tensor = context.tensors[index];
  info.present = true;
  if (tensor.name != nullptr) info.name = tensor.name;
  info.type = tensor.type;
  const std::span<const int> dims = AsSpan(tensor.dims);
  info.dims.assign(dims.begin(), dims.end());
  const std::span<const int> signature = AsSpan(tensor.dims_signature);
  info.signature.assign(signature.begin(), signature.end());
  if (tensor.allocation_type == kTfLiteMmapRo) {
    info.constant = tensor.data.data;
    info.bytes = tensor.bytes;
  }
  if (tensor.quantization.type == kTfLiteAffineQuantization &&
      tensor.quantization.params != nullptr) {
    const auto& affine = *static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
    if (affine.scale != nullptr) {
      info.scales.assign(affine.scale->data, affine.scale->data + affine.scale->size);
    }
    const std::span<const int> zero_points = AsSpan(affine.zero_point);
    info.zero_points.assign(zero_points.begin(), zero_points.end());
  }
  return info;
}

std::string DimsString(const std::vector<int>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

int64_t CountElements(const std::vector<int>& dims, size_t count) {
  int64_t elements = 1;
  bool overflow = false;
  for (size_t i = 0; i < count; ++i) {
    if (dims[i] < 0) {
      throw OpError("shape " + DimsString(dims) +
                    ": expected sizes of at least 0; the file is "
                    "corrupted or a dimension was never set (resize the input)");
    }
    overflow |= __builtin_mul_overflow(elements, int64_t{dims[i]}, &elements);
  }
  // An eighth, so that bytes of any element type can be counted as well.
  if (overflow || elements > static_cast<int64_t>(kMaxMemory / 8)) {
    throw OpError("shape " + DimsString(dims) +
                  ": expected a product that memory can hold; the "
                  "file is corrupted or the input was resized too far");
  }
  return elements;
}

}  // namespace larq_engine
