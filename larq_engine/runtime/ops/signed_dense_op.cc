#include "larq_engine/runtime/ops/signed_dense_op.h"

#include <algorithm>
#include <bit>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

bool CanClaimFloat(const OpInfo& op, int units) {
  return IsFloatData(op.inputs[0]) && IsFloat(op.output) && IsBias(op, units);
}

std::vector<float> ScaleOfEach(const WeightBits& weights, size_t units) {
  std::vector<float> scale(units);
  for (size_t i = 0; i < units; ++i) {
    scale[i] = weights.packed.scale[weights.packed.scales == 1 ? 0 : i];
  }
  return scale;
}

// Counts the signs that are minus.
size_t CountOnes(const uint32_t* bits, size_t first, size_t count) {
  size_t ones = 0;
  for (size_t i = 0; i < count; i += kWordBits) {
    const uint32_t word = BitsFrom(bits, first + i, std::min(kWordBits, count - i));
    ones += static_cast<size_t>(std::popcount(word));
  }
  return ones;
}

Int8DenseOutput ReadInt8(const OpInfo& op, const WeightBits& weights, size_t units, size_t depth) {
  Int8DenseOutput output = {ReadInt8Output(op, units), std::vector<int32_t>(units)};
  const std::vector<float> scale = ScaleOfEach(weights, units);
  const int32_t zero_point = ZeroPointOf(op.inputs[0]);
  for (size_t i = 0; i < units; ++i) {
    output.weight[i] = static_cast<int32_t>(scale[i]);
    // Inputs are q - zero_point. Sums wrap, as the host's do.
    const auto ones = static_cast<int32_t>(CountOnes(weights.packed.bits, i * depth, depth));
    const int32_t of_ones = static_cast<int32_t>(depth) - 2 * ones;
    output.bias[i] =
        static_cast<int32_t>(static_cast<uint32_t>(output.bias[i]) -
                             static_cast<uint32_t>(zero_point * output.weight[i] * of_ones));
  }
  return output;
}

}  // namespace

bool SignedDenseOp::CanClaim(const OpInfo& op) {
  if (op.weights == nullptr || op.inputs.size() < 2 || op.inputs.size() > 3 ||
      op.inputs[1].dims.size() != 2 || !op.builtin_options.activation.has_value()) {
    return false;
  }
  const WeightBits weights = WeightBits::Read(*op.weights);
  const int units = op.inputs[1].dims[0], depth = op.inputs[1].dims[1];
  if (weights.packed.scales > 1 && weights.axis != 0) return false;
  if (static_cast<size_t>(depth) > kMaxSignedDepth) return false;
  return op.inputs[1].type == ElementType::kInt8 ? IsInt8Layer(op, units)
                                                 : CanClaimFloat(op, units);
}

SignedDenseSize SignedDenseOp::Size(const OpInfo& op) {
  const TensorInfo& input = op.inputs[0];
  std::vector<int> dims = input.signature.empty() ? input.dims : input.signature;
  for (int& dim : dims) dim = std::max(dim, 1);
  const int depth = op.inputs[1].dims[1];
  return {.rows = CountElements(dims, dims.size()) / depth,
          .depth = depth,
          .units = op.inputs[1].dims[0],
          .is_int8 = input.type == ElementType::kInt8};
}

SignedDenseOp SignedDenseOp::Read(const OpInfo& op) {
  const TensorInfo& weights = op.inputs[1];
  SignedDenseOp read = {.shape = {.depth = weights.dims[1],
                                  .units = weights.dims[0],
                                  .keeps_dims = op.builtin_options.file.keep_dims},
                        .weights = WeightBits::Read(*op.weights),
                        .output = {}};
  const auto units = static_cast<size_t>(weights.dims[0]);
  const auto depth = static_cast<size_t>(weights.dims[1]);
  if (weights.type == ElementType::kInt8) {
    read.output = ReadInt8(op, read.weights, units, depth);
  } else {
    read.output = FloatDenseOutput{.scale = ScaleOfEach(read.weights, units),
                                   .bias = ReadBias(op, weights.dims[0]),
                                   .range = ActivationRange(*op.builtin_options.activation)};
  }
  return read;
}

}  // namespace larq_engine
