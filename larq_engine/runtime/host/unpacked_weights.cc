#include "larq_engine/runtime/host/unpacked_weights.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/kernels/unpack_weights.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_name.h"

namespace larq_engine {
namespace {

enum Input { kBits, kScale, kInputCount };

// XNNPACK may read 16 bytes (XNN_EXTRA_BYTES) after a tensor, and a page may end there.
constexpr size_t kReadableBytesAfter = 16;

constexpr float kLargestInt8Scale = 127;

void CheckOutput(const TensorInfo& output) {
  CheckType(output, "output", {kTfLiteFloat32, kTfLiteInt8});
  const bool is_open = std::ranges::find(output.signature, -1) != output.signature.end();
  if (output.dims.empty() || is_open || *std::ranges::min_element(output.dims) < 1) {
    throw OpError("output: expected a shape that the file fixes, all sizes at least 1, got " +
                  DimsString(is_open ? output.signature : output.dims) + "; re-convert the model");
  }
}

// How many scales there are: one, or one for each index of the axis.
size_t CheckScale(const TensorInfo& scale, int axis_size) {
  CheckType(scale, "scale", {kTfLiteFloat32});
  if (scale.dims.size() > 1) CheckRank(scale.dims, "scale", 1);
  const int count = scale.dims.empty() ? 1 : scale.dims[0];
  if (count != 1 && count != axis_size) {
    throw OpError("scale '" + scale.name + "': expected 1 value, or " + std::to_string(axis_size) +
                  ", one for each index of the axis, got " + std::to_string(count) +
                  "; re-convert the model");
  }
  CheckConstant(scale, "scale", sizeof(float));
  return static_cast<size_t>(count);
}

// Of int8 weights a scale is the number that they are, and what it stands for is said by the
// tensor.
void CheckInt8Scales(const PackedWeights& weights, const TensorInfo& scale) {
  for (size_t i = 0; i < weights.scales; ++i) {
    const float value = weights.scale[i];
    if (!(std::abs(value) <= kLargestInt8Scale) || value != std::trunc(value)) {
      throw OpError("scale '" + scale.name +
                    "': expected whole numbers from -127 to 127 for int8 weights, got " +
                    std::to_string(value) + "; re-convert the model");
    }
  }
}

ConstantValues<uint32_t> ReadBits(const TensorInfo& bits, size_t elements) {
  CheckType(bits, "bits", {kTfLiteInt32});
  CheckRank(bits.dims, "bits", 1);
  const size_t words = WordsFor(elements);
  if (bits.dims[0] < 0 || static_cast<size_t>(bits.dims[0]) != words) {
    throw OpError("bits '" + bits.name + "': expected " + std::to_string(words) + " words for " +
                  std::to_string(elements) + " weights, got " + std::to_string(bits.dims[0]) +
                  "; re-convert the model");
  }
  CheckConstant(bits, "bits", sizeof(uint32_t));
  ConstantValues<uint32_t> values(bits.constant, bits.bytes);
  if (values.data()[words - 1] & ~TailMask(elements)) {
    throw OpError("bits '" + bits.name + "': expected zeros after the " + std::to_string(elements) +
                  " weights, got ones; the file is corrupted");
  }
  return values;
}

}  // namespace

void UnpackedWeights::Unpack(const OpInfo& op) {
  constexpr std::string_view kKeys[] = {"axis"};
  CheckInputCount(op, kInputCount);
  const CustomOptions options(op.options, kKeys);
  CheckOutput(op.output);
  const std::vector<int>& dims = op.output.dims;
  const size_t axis =
      static_cast<size_t>(options.Get("axis", 0, static_cast<int64_t>(dims.size()) - 1));
  PackedWeights weights = {};
  weights.elements = static_cast<size_t>(CountElements(dims, dims.size()));
  weights.scales = CheckScale(op.inputs[kScale], dims[axis]);
  const ConstantValues<float> scale(op.inputs[kScale].constant, op.inputs[kScale].bytes);
  weights.scale = scale.data();
  const ConstantValues<uint32_t> bits = ReadBits(op.inputs[kBits], weights.elements);
  weights.bits = bits.data();
  weights.inner = weights.elements;
  if (weights.scales > 1) {
    weights.inner = 1;
    for (size_t i = axis + 1; i < dims.size(); ++i) weights.inner *= static_cast<size_t>(dims[i]);
  }
  const bool is_int8 = op.output.type == kTfLiteInt8;
  if (is_int8) CheckInt8Scales(weights, op.inputs[kScale]);
  bytes_ = MemoryProduct(weights.elements, is_int8 ? sizeof(int8_t) : sizeof(float));
  values_ = AlignedBuffer<uint8_t>(bytes_ + kReadableBytesAfter);
  if (is_int8) {
    UnpackWeights(weights, reinterpret_cast<int8_t*>(values_.data()));
  } else {
    UnpackWeights(weights, reinterpret_cast<float*>(values_.data()));
  }
  std::fill_n(values_.data() + bytes_, kReadableBytesAfter, uint8_t{0});
}

UnpackedWeights::UnpackedWeights(TfLiteContext* context, const HostNode& node) : context_(context) {
  OpName name{.kind = node.op->name, .layer = "", .node = node.index};
  ForOperator(name, [&] {
    const OpInfo op = DescribeOp(*context, node);
    name.layer = LayerName(op);
    Unpack(op);
    tensor_ = node.outputs[0];
    TfLiteTensor& tensor = context->tensors[tensor_];
    tensor.allocation_type = kTfLiteMmapRo;
    tensor.data.data = values_.data();
    tensor.bytes = bytes_;
  });
}

UnpackedWeights::~UnpackedWeights() {
  TfLiteTensor& tensor = context_->tensors[tensor_];
  tensor.allocation_type = kTfLiteArenaRw;
  tensor.data.data = nullptr;
}

}  // namespace larq_engine
