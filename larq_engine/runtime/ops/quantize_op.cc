#include "larq_engine/runtime/ops/quantize_op.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

void CheckHasChannels(const std::vector<int>& dims) {
  if (dims.empty()) {
    throw OpError("input: expected at least 1 dimension, got a scalar; re-convert the model");
  }
}

}  // namespace

QuantizeOp QuantizeOp::Read(const OpInfo& op) {
  CheckInputCount(op, 1);
  CheckNoOptions(op);
  CheckType(op.inputs[0], "input", {kTfLiteFloat32, kTfLiteInt8, kTfLiteBool});
  CheckType(op.output, "output", {kTfLiteInt32});
  QuantizeOp read{.from = op.inputs[0].type};
  if (read.from == kTfLiteInt8) read.zero_point = ZeroPoint(op.inputs[0], "input");
  return read;
}

TensorShape QuantizeOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckHasChannels(dims);
  CountElements(dims, dims.size());
  TensorShape output{.dims = dims, .channels = dims.back()};
  output.dims.back() = static_cast<int>(WordsFor(static_cast<size_t>(dims.back())));
  return output;
}

DequantizeOp DequantizeOp::Read(const OpInfo& op) {
  CheckInputCount(op, 1);
  CheckNoOptions(op);
  CheckType(op.inputs[0], "input", {kTfLiteInt32});
  CheckType(op.output, "output", {kTfLiteFloat32, kTfLiteInt8, kTfLiteBool});
  // Bits do not say how many channels they hold; only the output that the file declares does.
  if (op.output.dims.empty() || op.output.dims.back() < 0) {
    throw OpError("output: expected a shape that ends in the number of channels, got " +
                  DimsString(op.output.dims) + "; re-convert the model");
  }
  DequantizeOp read{.to = op.output.type, .channels = op.output.dims.back()};
  if (read.to == kTfLiteInt8) {
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
