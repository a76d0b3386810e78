#include "larq_engine/runtime/ops/quantize_op.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

constexpr std::string_view kPlaneKeys[] = {"bits"};

// Checks that the limits of a channel do not fall. NaN fails this check.
void CheckRise(const std::vector<float>& limits, size_t channels) {
  for (size_t i = 0; i < limits.size(); ++i) {
    const float before = i < channels ? -INFINITY : limits[i - channels];
    if (limits[i] >= before) continue;
    throw OpError("limits: expected numbers of which none is smaller than the one before, got " +
                  std::to_string(before) + " and " + std::to_string(limits[i]) +
                  "; the file is corrupted");
  }
}

void ReadLimits(const OpInfo& op, int64_t bits, QuantizeOp& read) {
  const TensorInfo& limits = op.inputs[1];
  CheckType(limits, "limits", {ElementType::kFloat32});
  const std::vector<int>& dims = limits.dims;
  const bool fits =
      (dims.size() == 1 || dims.size() == 2) && dims[0] == LargestOf(bits) && dims.back() >= 1;
  if (!fits) {
    throw OpError("limits '" + limits.name + "': expected " + std::to_string(LargestOf(bits)) +
                  " for " + std::to_string(bits) +
                  " bits, or as many times the input's channels, got shape " + DimsString(dims) +
                  "; re-convert the model");
  }
  CheckConstant(limits, "limits", sizeof(float));
  read.limit_channels = dims.size() == 2 ? dims[1] : 1;
  read.plane_limits.resize(limits.bytes / sizeof(float));
  std::memcpy(read.plane_limits.data(), limits.constant, limits.bytes);
  CheckRise(read.plane_limits, static_cast<size_t>(read.limit_channels));
}

}  // namespace

QuantizeOp QuantizeOp::Read(const OpInfo& op) {
  int64_t bits = 1;
  if (!op.options.empty()) {
    const CustomOptions options(op.options, {OptionKeys{}, kPlaneKeys});
    if (options.Has("bits")) bits = options.Get("bits", 2, kMaxBits);
  }
  const bool of_bytes =
      bits == kByteBits && !op.inputs.empty() && op.inputs[0].type == ElementType::kUint8;
  const bool has_limits = bits > 1 && !of_bytes;
  CheckInputCount(op, has_limits ? 2 : 1);
  if (has_limits) {
    CheckType(op.inputs[0], "input", {ElementType::kFloat32});
  } else if (!of_bytes) {
    CheckType(op.inputs[0], "input",
              {ElementType::kFloat32, ElementType::kInt8, ElementType::kBool});
  }
  CheckType(op.output, "output", {ElementType::kInt32});
  QuantizeOp read{.from = op.inputs[0].type};
  read.bits = bits;
  if (has_limits) ReadLimits(op, bits, read);
  if (read.from == ElementType::kInt8) read.zero_point = ZeroPoint(op.inputs[0], "input");
  return read;
}

TensorShape QuantizeOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckHasChannels(dims);
  CountElements(dims, dims.size());
  if (limit_channels != 1 && limit_channels != dims.back()) {
    throw OpError("input: expected " + std::to_string(limit_channels) +
                  " channels, for each of which there are limits, got shape " + DimsString(dims) +
                  "; re-convert the model");
  }
  TensorShape output{.dims = dims, .channels = dims.back(), .bits = bits};
  const auto words = static_cast<int64_t>(WordsFor(static_cast<size_t>(dims.back())));
  output.dims.back() = CheckedSize(bits * words);
  return output;
}

DequantizeOp DequantizeOp::Read(const OpInfo& op) {
  CheckInputCount(op, 1);
  CheckNoOptions(op);
  CheckType(op.inputs[0], "input", {ElementType::kInt32});
  CheckType(op.output, "output", {ElementType::kFloat32, ElementType::kInt8, ElementType::kBool});
  // Bits do not say how many channels they hold; only the output that the file declares does.
  if (op.output.dims.empty() || op.output.dims.back() < 0) {
    throw OpError("output: expected a shape that ends in the number of channels, got " +
                  DimsString(op.output.dims) + "; re-convert the model");
  }
  DequantizeOp read{.to = op.output.type, .channels = op.output.dims.back()};
  if (read.to == ElementType::kInt8) {
    const double zero_point = ZeroPoint(op.output, "output");
    const double one = std::round(1.0 / Scale(op.output, "output"));
    read.plus = static_cast<int8_t>(std::clamp(zero_point + one, -128.0, 127.0));
    read.minus = static_cast<int8_t>(std::clamp(zero_point - one, -128.0, 127.0));
  }
  return read;
}

TensorShape DequantizeOp::Shape(std::span<const TensorShape> inputs) const {
  const TensorShape& input = inputs[0];
  CheckHasChannels(input.dims);
  const size_t words = WordsFor(static_cast<size_t>(channels));
  if (input.dims.back() != static_cast<int>(words)) {
    throw OpError("input: expected " + std::to_string(words) + " words for the output's " +
                  std::to_string(channels) + " channels, got shape " + DimsString(input.dims) +
                  "; re-convert the model");
  }
  CheckBitChannels(input, channels);
  TensorShape output{.dims = input.dims};
  output.dims.back() = channels;
  CountElements(output.dims, output.dims.size());
  return output;
}

}  // namespace larq_engine
