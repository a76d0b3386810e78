#include "larq_engine/runtime/ops/weight_bits.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

struct UnpackInput {
  enum : size_t { kBits, kScale, kCount };
};

constexpr float kLargestInt8Scale = 127;

void CheckOutput(const TensorInfo& output) {
  CheckType(output, "output", {ElementType::kFloat32, ElementType::kInt8});
  const bool is_open =
      std::find(output.signature.begin(), output.signature.end(), -1) != output.signature.end();
  if (output.dims.empty() || is_open ||
      *std::min_element(output.dims.begin(), output.dims.end()) < 1) {
    throw OpError("output: expected a shape that the file fixes, all sizes at least 1, got " +
                  DimsString(is_open ? output.signature : output.dims) + "; re-convert the model");
  }
}

// Returns the number of scales: one, or one for each index of the axis.
size_t CheckScale(const TensorInfo& scale, int axis_size) {
  CheckType(scale, "scale", {ElementType::kFloat32});
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

// Checks the scales of int8 weights. Such a scale is the number that the weights become, and the
// tensor says what this number stands for.
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
  CheckType(bits, "bits", {ElementType::kInt32});
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

WeightBits WeightBits::Read(const OpInfo& op) {
  constexpr std::string_view kKeys[] = {"axis"};
  CheckInputCount(op, UnpackInput::kCount);
  const CustomOptions options(op.options, kKeys);
  CheckOutput(op.output);
  const std::vector<int>& dims = op.output.dims;
  const TensorInfo& scale = op.inputs[UnpackInput::kScale];
  WeightBits read = {};
  read.type = op.output.type;
  read.axis = static_cast<size_t>(options.Get("axis", 0, static_cast<int64_t>(dims.size()) - 1));
  PackedWeights& packed = read.packed;
  packed.elements = static_cast<size_t>(CountElements(dims, dims.size()));
  packed.scales = CheckScale(scale, dims[read.axis]);
  read.scale = ConstantValues<float>(scale.constant, scale.bytes);
  packed.scale = read.scale.data();
  read.bits = ReadBits(op.inputs[UnpackInput::kBits], packed.elements);
  packed.bits = read.bits.data();
  packed.inner = packed.elements;
  if (packed.scales > 1) {
    packed.inner = 1;
    for (size_t i = read.axis + 1; i < dims.size(); ++i) {
      packed.inner *= static_cast<size_t>(dims[i]);
    }
  }
  if (read.type == ElementType::kInt8) CheckInt8Scales(packed, scale);
  return read;
}

size_t WeightBits::UnpackedBytes() const {
  return MemoryProduct(packed.elements, ElementBytes(type));
}

void WeightBits::UnpackTo(uint8_t* out) const {
  if (type == ElementType::kInt8) {
    UnpackWeights(packed, reinterpret_cast<int8_t*>(out));
  } else {
    UnpackWeights(packed, reinterpret_cast<float*>(out));
  }
}

}  // namespace larq_engine
