#include "larq_engine/runtime/ops/signed_dense_op.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// XNNPACK's, which it can only represent if they are not smaller or larger.
constexpr float kSmallestMultiplier = 0x1p-32f;
constexpr float kLargestMultiplier = 256;

constexpr FloatRange kInt8Range = {-128, 127};

int32_t ZeroPointOf(const TensorInfo& tensor) {
  return tensor.zero_points.empty() ? 0 : tensor.zero_points[0];
}

bool IsInt8(const TensorInfo& tensor) {
  const auto zero_point = static_cast<float>(ZeroPointOf(tensor));
  return tensor.present && tensor.type == kTfLiteInt8 && !tensor.dims.empty() &&
         (tensor.signature.empty() || tensor.signature.back() >= 0) && tensor.scales.size() == 1 &&
         std::isnormal(tensor.scales[0]) && tensor.scales[0] > 0 &&
         tensor.zero_points.size() <= 1 && zero_point >= kInt8Range.min &&
         zero_point <= kInt8Range.max;
}

bool HasBias(const OpInfo& op) { return op.inputs.size() == 3 && op.inputs[2].present; }

bool IsInt32Bias(const OpInfo& op, int units) {
  if (!HasBias(op)) return true;
  const TensorInfo& bias = op.inputs[2];
  return bias.type == kTfLiteInt32 && bias.constant != nullptr && bias.dims.size() == 1 &&
         bias.dims[0] == units && bias.bytes == static_cast<size_t>(units) * sizeof(int32_t);
}

// What a step of each output's sum is worth in steps of the result, in XNNPACK's order.
std::vector<float> Multipliers(const OpInfo& op, size_t units) {
  const std::vector<float>& weights = op.inputs[1].scales;
  std::vector<float> multipliers(units);
  for (size_t i = 0; i < units; ++i) {
    const float scale = weights[weights.size() == 1 ? 0 : i];
    multipliers[i] = op.inputs[0].scales[0] * scale / op.output.scales[0];
  }
  return multipliers;
}

bool CanClaimFloat(const OpInfo& op, int units) {
  return IsFloatData(op.inputs[0]) && IsFloat(op.output) && IsBias(op, units);
}

bool CanClaimInt8(const OpInfo& op, int units) {
  const TensorInfo& weights = op.inputs[1];
  const auto is_zero = [](int zero_point) { return zero_point == 0; };
  const auto is_usual = [](float multiplier) {
    return multiplier >= kSmallestMultiplier && multiplier < kLargestMultiplier;
  };
  if (!IsInt8(op.inputs[0]) || op.inputs[0].constant != nullptr || !IsInt8(op.output) ||
      !IsInt32Bias(op, units) ||
      (weights.scales.size() != 1 && weights.scales.size() != static_cast<size_t>(units)) ||
      !std::all_of(weights.zero_points.begin(), weights.zero_points.end(), is_zero)) {
    return false;
  }
  const std::vector<float> multipliers = Multipliers(op, static_cast<size_t>(units));
  return std::all_of(multipliers.begin(), multipliers.end(), is_usual);
}

// Where the activation ends, without the zero point; XNNPACK rounds halves to even.
FloatRange Int8Range(Activation activation, const TensorInfo& output) {
  const FloatRange range = ActivationRange(activation);
  const auto zero_point = static_cast<float>(ZeroPointOf(output));
  const auto quantize = [&](float value) {
    const float steps = value / output.scales[0] + zero_point;
    return std::nearbyint(std::clamp(steps, kInt8Range.min, kInt8Range.max)) - zero_point;
  };
  return {quantize(range.min), quantize(range.max)};
}

std::vector<float> ScaleOfEach(const WeightBits& weights, size_t units) {
  std::vector<float> scale(units);
  for (size_t i = 0; i < units; ++i) {
    scale[i] = weights.packed.scale[weights.packed.scales == 1 ? 0 : i];
  }
  return scale;
}

// Of signs that are minus.
size_t CountOnes(const uint32_t* bits, size_t first, size_t count) {
  size_t ones = 0;
  for (size_t i = 0; i < count; i += kWordBits) {
    const uint32_t word = BitsFrom(bits, first + i, std::min(kWordBits, count - i));
    ones += static_cast<size_t>(std::popcount(word));
  }
  return ones;
}

Int8DenseOutput ReadInt8(const OpInfo& op, const WeightBits& weights, size_t units, size_t depth) {
  Int8DenseOutput output = {.weight = std::vector<int32_t>(units),
                            .offset = ReadInts(HasBias(op) ? op.inputs[2] : TensorInfo()),
                            .multiplier = Multipliers(op, units),
                            .range = Int8Range(*op.host_options.activation, op.output),
                            .zero_point = ZeroPointOf(op.output)};
  output.offset.resize(units);
  const std::vector<float> scale = ScaleOfEach(weights, units);
  const int32_t zero_point = ZeroPointOf(op.inputs[0]);
  for (size_t i = 0; i < units; ++i) {
    output.weight[i] = static_cast<int32_t>(scale[i]);
    // Inputs are q - zero_point. Sums wrap, as the host's do.
    const auto ones = static_cast<int32_t>(CountOnes(weights.packed.bits, i * depth, depth));
    const int32_t of_ones = static_cast<int32_t>(depth) - 2 * ones;
    output.offset[i] =
        static_cast<int32_t>(static_cast<uint32_t>(output.offset[i]) -
                             static_cast<uint32_t>(zero_point * output.weight[i] * of_ones));
  }
  return output;
}

}  // namespace

bool SignedDenseOp::CanClaim(const OpInfo& op) {
  if (op.weights == nullptr || op.inputs.size() < 2 || op.inputs.size() > 3 ||
      op.inputs[1].dims.size() != 2 || !op.host_options.activation.has_value()) {
    return false;
  }
  const WeightBits weights = WeightBits::Read(*op.weights);
  const int units = op.inputs[1].dims[0], depth = op.inputs[1].dims[1];
  if (weights.packed.scales > 1 && weights.axis != 0) return false;
  if (static_cast<size_t>(depth) > kMaxSignedDepth) return false;
  return op.inputs[1].type == kTfLiteInt8 ? CanClaimInt8(op, units) : CanClaimFloat(op, units);
}

SignedDenseSize SignedDenseOp::Size(const OpInfo& op) {
  const TensorInfo& input = op.inputs[0];
  std::vector<int> dims = input.signature.empty() ? input.dims : input.signature;
  for (int& dim : dims) dim = std::max(dim, 1);
  const int depth = op.inputs[1].dims[1];
  return {.rows = CountElements(dims, dims.size()) / depth,
          .depth = depth,
          .units = op.inputs[1].dims[0],
          .is_int8 = input.type == kTfLiteInt8};
}

SignedDenseOp SignedDenseOp::Read(const OpInfo& op) {
  const TensorInfo& weights = op.inputs[1];
  SignedDenseOp read = {.shape = {.depth = weights.dims[1],
                                  .units = weights.dims[0],
                                  .keeps_dims = op.host_options.keep_dims},
                        .weights = WeightBits::Read(*op.weights),
                        .output = {}};
  const auto units = static_cast<size_t>(weights.dims[0]);
  const auto depth = static_cast<size_t>(weights.dims[1]);
  if (weights.type == kTfLiteInt8) {
    read.output = ReadInt8(op, read.weights, units, depth);
  } else {
    read.output = FloatDenseOutput{.scale = ScaleOfEach(read.weights, units),
                                   .bias = ReadBias(op, weights.dims[0]),
                                   .range = ActivationRange(*op.host_options.activation)};
  }
  return read;
}

}  // namespace larq_engine
