#include "larq_engine/runtime/ops/layout_ops.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {

namespace {

// Reads the number that a PADV2 pads with.
std::optional<float> ReadValue(const TensorInfo& tensor) {
  float value = 0;
  const bool is_number = tensor.present && tensor.type == ElementType::kFloat32 &&
                         tensor.constant != nullptr && tensor.bytes == sizeof(value);
  if (!is_number) return std::nullopt;
  std::memcpy(&value, tensor.constant, sizeof(value));
  return value;
}

// Tells whether there are two sizes of 0 or more for each dimension of the input.
bool ArePads(const OpInfo& op) {
  const std::vector<int> pads = ReadInts(op.inputs[1]);
  return op.inputs[0].dims.size() <= PadOp::kMaxDims &&
         pads.size() == 2 * op.inputs[0].dims.size() &&
         std::all_of(pads.begin(), pads.end(), [](int pad) { return pad >= 0; });
}

std::vector<std::array<int, 2>> ReadPads(const OpInfo& op) {
  const std::vector<int> sizes = ReadInts(op.inputs[1]);
  std::vector<std::array<int, 2>> pads(sizes.size() / 2);
  for (size_t i = 0; i < sizes.size(); ++i) pads[i / 2][i % 2] = sizes[i];
  return pads;
}

}  // namespace

bool PadOp::CanClaim(const OpInfo& op) {
  const bool has_value = op.inputs.size() == 3;
  if (!IsOpOfFloatData(op, has_value ? 3 : 2)) return false;
  if (has_value && !ReadValue(op.inputs[2])) return false;
  return ArePads(op);
}

PadOp PadOp::Read(const OpInfo& op) {
  PadOp read{.pads = ReadPads(op)};
  if (op.inputs.size() == 3) read.value = ReadValue(op.inputs[2]).value();
  return read;
}

bool PadBytesOp::CanClaim(const OpInfo& op) {
  if (op.inputs.size() < 2 || op.inputs.size() > 3 || op.inputs[0].dims.empty() ||
      op.inputs[0].constant != nullptr || !AreQuantizedAlike(op.inputs[0], op.output)) {
    return false;
  }
  if (op.inputs.size() == 3) {
    const TensorInfo& value = op.inputs[2];
    if (!AreQuantizedAlike(value, op.output) || value.constant == nullptr || value.bytes != 1) {
      return false;
    }
  }
  return ArePads(op);
}

PadBytesOp PadBytesOp::Read(const OpInfo& op) {
  const bool has_value = op.inputs.size() == 3;
  return {.pad = {.pads = ReadPads(op)},
          .value = has_value ? *static_cast<const int8_t*>(op.inputs[2].constant)
                             : static_cast<int8_t>(ZeroPointOf(op.output))};
}

bool PadIntsOp::CanClaim(const OpInfo& op) {
  if (op.inputs.size() < 2 || op.inputs.size() > 3 || !op.inputs[0].present ||
      op.inputs[0].dims.empty() || op.inputs[0].constant != nullptr ||
      op.inputs[0].type != ElementType::kInt32 || op.output.type != ElementType::kInt32) {
    return false;
  }
  return (op.inputs.size() == 2 || ReadInts(op.inputs[2]).size() == 1) && ArePads(op);
}

PadIntsOp PadIntsOp::Read(const OpInfo& op) {
  PadIntsOp read{.pad = {.pads = ReadPads(op)}};
  if (op.inputs.size() == 3) read.value = ReadInts(op.inputs[2])[0];
  return read;
}

TensorShape PadOp::Shape(std::span<const TensorShape> inputs) const {
  std::vector<int> dims = inputs[0].dims;
  CheckRank(dims, "input", pads.size());
  for (size_t i = 0; i < pads.size(); ++i) {
    dims[i] = CheckedSize(int64_t{dims[i]} + pads[i][0] + pads[i][1]);
  }
  CountElements(dims, dims.size());
  return {.dims = dims};
}

bool ReshapeOp::CanClaim(const OpInfo& op) {
  if (op.inputs.size() != 2 || !IsMovable(op.inputs[0]) || !IsMovable(op.output) ||
      op.output.type != op.inputs[0].type || op.inputs[1].dims.size() != 1) {
    return false;
  }
  const std::vector<int> dims = ReadInts(op.inputs[1]);
  return dims.size() == op.output.dims.size() && std::count(dims.begin(), dims.end(), -1) <= 1 &&
         std::all_of(dims.begin(), dims.end(), [](int dim) { return dim == -1 || dim >= 1; });
}

ReshapeOp ReshapeOp::Read(const OpInfo& op) {
  return {.dims = ReadInts(op.inputs[1]), .element_bytes = ElementBytes(op.output.type)};
}

TensorShape ReshapeOp::Shape(std::span<const TensorShape> inputs) const {
  const int64_t values = CountElements(inputs[0].dims, inputs[0].dims.size());
  std::vector<int> shape = dims;
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    *open = CheckedSize(values / CountElements(shape, shape.size()));
  }
  if (CountElements(shape, shape.size()) != values) {
    throw OpError("input: expected as many values as shape " + DimsString(dims) +
                  " has, got shape " + DimsString(inputs[0].dims) +
                  "; resize the input to what the model takes");
  }
  return {.dims = shape};
}

}  // namespace larq_engine
