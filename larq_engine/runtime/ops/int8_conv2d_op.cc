#include "larq_engine/runtime/ops/int8_conv2d_op.h"

#include <algorithm>
#include <limits>

#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {
namespace {

// Limits sizes. Nobody needs more, and 64 bits easily hold products of such sizes.
constexpr int kMostSize = 1 << 16;

// Tells whether the tensor is a constant filter [out_channels][height][width][in_channels] without
// the value -128, which products of bytes do not take.
bool IsFilter(const TensorInfo& filter) {
  const auto is_small = [](int size) { return size >= 1 && size <= kMostSize; };
  if (!filter.present || filter.type != ElementType::kInt8 || filter.constant == nullptr ||
      filter.dims.size() != 4 || !std::all_of(filter.dims.begin(), filter.dims.end(), is_small) ||
      filter.bytes != static_cast<size_t>(CountElements(filter.dims, 4))) {
    return false;
  }
  const auto* weights = static_cast<const int8_t*>(filter.constant);
  constexpr int8_t kLowest = std::numeric_limits<int8_t>::min();
  return std::find(weights, weights + filter.bytes, kLowest) == weights + filter.bytes;
}

}  // namespace

bool Int8Conv2dOp::CanClaim(const OpInfo& op) {
  // Hosts compute convolutions without a bias by another kernel, or not at all.
  if (op.inputs.size() != 3 || !op.inputs[2].present || op.inputs[0].dims.size() != 4 ||
      !op.builtin_options.activation.has_value() || !op.builtin_options.window.has_value() ||
      !IsFilter(op.inputs[1])) {
    return false;
  }
  const std::vector<int>& filter = op.inputs[1].dims;
  const Window2d window = ConvWindow(op);
  return filter[3] == op.inputs[0].dims[3] && IsLegal(window) && ReachesLittle(window) &&
         IsInt8Layer(op, filter[0]);
}

Int8Conv2dSpec Int8Conv2dOp::Spec(const OpInfo& op) {
  const std::vector<int>& filter = op.inputs[1].dims;
  return {.in_channels = filter[3],
          .out_channels = filter[0],
          .window = ConvWindow(op),
          .zero_point = ZeroPointOf(op.inputs[0])};
}

Int8Conv2dOp Int8Conv2dOp::Read(const OpInfo& op) {
  const TensorInfo& filter = op.inputs[1];
  return {.spec = Spec(op),
          .filter = ConstantValues<int8_t>(filter.constant, filter.bytes),
          .output = ReadInt8Output(op, static_cast<size_t>(filter.dims[0]))};
}

TensorShape Int8Conv2dOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  if (dims[3] != spec.in_channels) {
    throw OpError("input: expected " + std::to_string(spec.in_channels) +
                  " channels, as the filter has, got shape " + DimsString(dims) +
                  "; resize the input to what the model takes");
  }
  return {.dims = OutputDims(spec.window, dims, static_cast<int>(spec.out_channels))};
}

}  // namespace larq_engine
