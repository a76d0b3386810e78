#include "larq_engine/runtime/ops/op_checks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "larq_engine/runtime/ops/flexbuffer.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/weight_bits.h"

namespace larq_engine {
namespace {

std::string Quoted(const TensorInfo& tensor) {
  return tensor.name.empty() ? "" : " '" + tensor.name + "'";
}

std::string Join(std::span<const std::string_view> words) {
  if (words.empty()) return "no options";
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

}  // namespace

void CheckInputCount(const OpInfo& op, size_t expected) {
  if (op.inputs.size() != expected) {
    throw OpError("expected " + std::to_string(expected) + " inputs, got " +
                  std::to_string(op.inputs.size()) + "; re-convert the model");
  }
}

void CheckType(const TensorInfo& tensor, const char* role,
               std::initializer_list<ElementType> expected) {
  if (tensor.present &&
      std::find(expected.begin(), expected.end(), tensor.type) != expected.end()) {
    return;
  }
  std::string names;
  for (ElementType type : expected)
    names += (names.empty() ? "" : " or ") + std::string(TypeName(type));
  throw OpError(role + Quoted(tensor) + ": expected " + names + ", got " +
                (tensor.present ? TypeName(tensor.type) : "no tensor") + "; re-convert the model");
}

void CheckRank(const std::vector<int>& dims, const char* role, size_t expected) {
  if (dims.size() != expected) {
    throw OpError(std::string(role) + ": expected " + std::to_string(expected) +
                  " dimensions, got shape " + DimsString(dims) + "; re-convert the model");
  }
}

void CheckHasChannels(const std::vector<int>& dims) {
  if (dims.empty()) {
    throw OpError("input: expected at least 1 dimension, got a scalar; re-convert the model");
  }
}

bool IsFloat(const TensorInfo& tensor) {
  const bool open_channels = !tensor.signature.empty() && tensor.signature.back() < 0;
  return tensor.present && tensor.type == ElementType::kFloat32 && !tensor.dims.empty() &&
         !open_channels;
}

bool IsFloatData(const TensorInfo& tensor) { return IsFloat(tensor) && tensor.constant == nullptr; }

bool IsMovable(const TensorInfo& tensor) {
  const bool is_known = tensor.type == ElementType::kFloat32 || tensor.type == ElementType::kInt8 ||
                        tensor.type == ElementType::kInt32;
  return tensor.present && is_known && tensor.constant == nullptr && !tensor.dims.empty();
}

bool IsFloatOp(const OpInfo& op, size_t inputs) {
  return op.inputs.size() == inputs && IsFloat(op.output);
}

bool IsOpOfFloatData(const OpInfo& op, size_t inputs) {
  return IsFloatOp(op, inputs) && IsFloatData(op.inputs[0]);
}

bool HasFloatWeights(const OpInfo& op) {
  if (op.inputs.size() < 2 || op.inputs.size() > 3 || !IsOpOfFloatData(op, op.inputs.size())) {
    return false;
  }
  const TensorInfo& weights = op.inputs[1];
  const std::vector<int>& dims = weights.dims;
  if (!IsFloat(weights) || std::any_of(dims.begin(), dims.end(), [](int dim) { return dim < 1; })) {
    return false;
  }
  if (op.weights != nullptr) {  // they are a constant by the time that they are read
    WeightBits::Read(*op.weights);
    return true;
  }
  return weights.constant != nullptr &&
         weights.bytes == static_cast<size_t>(CountElements(dims, dims.size())) * sizeof(float);
}

bool IsBias(const OpInfo& op, int channels) {
  if (op.inputs.size() < 3 || !op.inputs[2].present) return true;
  const TensorInfo& bias = op.inputs[2];
  return IsFloat(bias) && bias.constant != nullptr && bias.dims.size() == 1 &&
         bias.dims[0] == channels && bias.bytes == static_cast<size_t>(channels) * sizeof(float);
}

std::vector<float> ReadBias(const OpInfo& op, int channels) {
  std::vector<float> bias(static_cast<size_t>(channels));
  if (op.inputs.size() == 3 && op.inputs[2].present) {
    std::memcpy(bias.data(), op.inputs[2].constant, op.inputs[2].bytes);
  }
  return bias;
}

std::vector<int> ReadInts(const TensorInfo& tensor) {
  if (!tensor.present || tensor.type != ElementType::kInt32 || tensor.constant == nullptr)
    return {};
  std::vector<int> values(tensor.bytes / sizeof(int));
  if (!values.empty()) std::memcpy(values.data(), tensor.constant, values.size() * sizeof(int));
  return values;
}

TensorShape CheckedShape(const std::vector<int>& dims) {
  CountElements(dims, dims.size());
  return {.dims = dims};
}

int CheckedSize(int64_t size) {
  if (size > std::numeric_limits<int>::max()) {
    throw OpError("output: expected sizes that 32 bits hold, got " + std::to_string(size) +
                  "; the file is corrupted or the input was resized too far");
  }
  return static_cast<int>(size);
}

void CheckConstant(const TensorInfo& tensor, const char* role, size_t element_bytes) {
  const std::string start = std::string(role) + " '" + tensor.name + "': ";
  if (tensor.constant == nullptr) {
    throw OpError(start +
                  "expected a constant, got a tensor that is computed; re-convert the model "
                  "with frozen variables");
  }
  const size_t expected =
      static_cast<size_t>(CountElements(tensor.dims, tensor.dims.size())) * element_bytes;
  if (tensor.bytes != expected) {
    throw OpError(start + "expected " + std::to_string(expected) + " bytes for shape " +
                  DimsString(tensor.dims) + ", got " + std::to_string(tensor.bytes) +
                  "; the file is corrupted");
  }
}

void CheckBitChannels(const TensorShape& input, int64_t channels, int64_t bits) {
  CheckBits(input, bits);
  if (input.channels != 0 && input.channels != channels) {
    throw OpError("input: expected bits of " + std::to_string(channels) + " channels, got " +
                  std::to_string(input.channels) +
                  " from the operator before; re-convert the model");
  }
}

void CheckBits(const TensorShape& input, int64_t expected) {
  if (input.channels != 0 && input.bits != expected) {
    throw OpError("input: expected " + std::to_string(expected) +
                  (expected == 1 ? " bit" : " bits") + " a value, got " +
                  std::to_string(input.bits) + " from the operator before; re-convert the model");
  }
}

int32_t ZeroPoint(const TensorInfo& tensor, const char* role) {
  if (tensor.zero_points.size() > 1) {
    throw OpError(role + Quoted(tensor) + ": expected one zero point for the tensor, got " +
                  std::to_string(tensor.zero_points.size()) +
                  "; re-convert with per-tensor quantized activations");
  }
  return ZeroPointOf(tensor);
}

int32_t ZeroPointOf(const TensorInfo& tensor) {
  return tensor.zero_points.empty() ? 0 : tensor.zero_points[0];
}

double Scale(const TensorInfo& tensor, const char* role) {
  const std::string start = role + Quoted(tensor) + ": expected one positive scale for int8, got ";
  const char* remedy = "; re-convert with per-tensor quantized activations";
  if (tensor.scales.size() != 1) {
    throw OpError(start + (tensor.scales.empty() ? "none" : std::to_string(tensor.scales.size())) +
                  remedy);
  }
  const float scale = tensor.scales[0];
  // The inverse of a denormal scale may be infinite.
  if (!(scale > 0) || !std::isnormal(scale)) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", scale);
    throw OpError(start + text + remedy);
  }
  return scale;
}

void CheckNoOptions(const OpInfo& op) {
  if (!op.options.empty()) CustomOptions(op.options, OptionKeys{});
}

CustomOptions::CustomOptions(std::span<const uint8_t> flexbuffer,
                             std::initializer_list<OptionKeys> key_sets) {
  OptionKeys keys = *key_sets.begin();
  try {
    values_ = ReadIntMap(flexbuffer);
  } catch (const std::invalid_argument& e) {
    throw OpError(e.what() + std::string("; expected a map with ") + Join(keys) +
                  "; the file is corrupted");
  }
  const auto known = [&](OptionKeys set) {
    return std::count_if(set.begin(), set.end(), [&](std::string_view key) { return Has(key); });
  };
  for (OptionKeys set : key_sets) {
    if (known(set) > known(keys)) keys = set;
  }
  for (std::string_view key : keys) {
    if (!Has(key)) {
      throw OpError("option '" + std::string(key) + "' is missing; expected " + Join(keys) +
                    "; re-convert the model");
    }
  }
  for (const auto& [key, value] : values_) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw OpError("unknown option '" + key + "'; expected " + Join(keys) +
                    "; the file may be of a newer version: upgrade larq_engine");
    }
  }
}

int64_t CustomOptions::Get(std::string_view key, int64_t min, int64_t max) const {
  const int64_t value = values_.at(std::string(key));
  if (value < min || value > max) {
    throw OpError("option '" + std::string(key) + "': expected " + std::to_string(min) + " to " +
                  std::to_string(max) + ", got " + std::to_string(value) +
                  "; the file is corrupted or of a newer version");
  }
  return value;
}

bool CustomOptions::IsSame() const { return Get("padding", 0, 1) == 0; }

}  // namespace larq_engine
