#include "larq_engine/runtime/host_ops.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace larq_engine {
namespace {

template <typename Params>
HostOptions ReadActivation(const void* builtin_data) {
  return {.activation = static_cast<const Params*>(builtin_data)->activation};
}

HostOptions ReadPool(const void* builtin_data) {
  const auto& params = *static_cast<const TfLitePoolParams*>(builtin_data);
  return {.activation = params.activation, .pool = params};
}

HostOptions ReadConcatenation(const void* builtin_data) {
  const auto& params = *static_cast<const TfLiteConcatenationParams*>(builtin_data);
  return {.activation = params.activation, .axis = params.axis};
}

template <TfLiteFusedActivation kActivation>
HostOptions ReadNothing(const void*) {
  return {.activation = kActivation};
}

// Whether an operator can be fused must not depend on sizes that a resize changes: a host that asks
// again after one must get the same answer.

// With a number of channels that the file says: one that it leaves open is declared as 1.
bool IsFloat(const TensorInfo& tensor) {
  const bool open_channels = !tensor.signature.empty() && tensor.signature.back() < 0;
  return tensor.present && tensor.type == kTfLiteFloat32 && !tensor.dims.empty() && !open_channels;
}

bool IsData(const TensorInfo& tensor) { return IsFloat(tensor) && tensor.constant == nullptr; }

bool IsKnown(TfLiteFusedActivation activation) {
  return activation == kTfLiteActNone || activation == kTfLiteActRelu ||
         activation == kTfLiteActReluN1To1 || activation == kTfLiteActRelu6;
}

bool HasInputs(const OpInfo& op, size_t count) {
  return op.inputs.size() == count && IsFloat(op.output);
}

// A constant that is one value or one for each of the tensor's channels. One of more dimensions
// than the tensor gives the result its own number of them.
bool IsChannelConstant(const TensorInfo& constant, const TensorInfo& data) {
  if (constant.dims.size() > data.dims.size()) return false;
  const size_t values = ReadChannelConstant(constant).size();
  return values == 1 || (values > 1 && values == static_cast<size_t>(data.dims.back()));
}

bool CanFuseBinary(const OpInfo& op) {
  if (!HasInputs(op, 2) || !IsKnown(op.host_options.activation)) return false;
  const TensorInfo& a = op.inputs[0];
  const TensorInfo& b = op.inputs[1];
  if (IsData(a)) return IsData(b) || IsChannelConstant(b, a);
  return IsData(b) && IsChannelConstant(a, b);
}

bool CanFuseRelu(const OpInfo& op) { return HasInputs(op, 1) && IsData(op.inputs[0]); }

bool CanFusePrelu(const OpInfo& op) {
  return HasInputs(op, 2) && IsData(op.inputs[0]) && IsChannelConstant(op.inputs[1], op.inputs[0]);
}

bool CanFuseMaxPool(const OpInfo& op) {
  const TfLitePoolParams& pool = op.host_options.pool;
  return HasInputs(op, 1) && IsData(op.inputs[0]) && op.inputs[0].dims.size() == 4 &&
         op.host_options.activation == kTfLiteActNone && pool.filter_height >= 1 &&
         pool.filter_width >= 1 && pool.stride_height >= 1 && pool.stride_width >= 1 &&
         (pool.padding == kTfLitePaddingSame || pool.padding == kTfLitePaddingValid);
}

bool CanFuseConcatenation(const OpInfo& op) {
  if (!IsFloat(op.output) || op.inputs.size() < 2 || op.inputs.size() > kMaxDataInputs) {
    return false;
  }
  const int rank = static_cast<int>(op.output.dims.size());
  const int axis = op.host_options.axis;
  if ((axis != -1 && axis != rank - 1) || op.host_options.activation != kTfLiteActNone) {
    return false;
  }
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const TensorInfo& input) {
    return IsData(input) && input.dims.size() == op.output.dims.size();
  });
}

struct HostOpRow {
  TfLiteBuiltinOperator code;
  HostOp op;
};

constexpr HostOpRow kHostOps[] = {
    {kTfLiteBuiltinAdd, {"ADD", true, ReadActivation<TfLiteAddParams>, CanFuseBinary, MakeAddStep}},
    {kTfLiteBuiltinMul,
     {"MUL", true, ReadActivation<TfLiteMulParams>, CanFuseBinary, MakeMultiplyStep}},
    {kTfLiteBuiltinRelu, {"RELU", false, ReadNothing<kTfLiteActRelu>, CanFuseRelu, MakeReluStep}},
    {kTfLiteBuiltinReluN1To1,
     {"RELU_N1_TO_1", false, ReadNothing<kTfLiteActReluN1To1>, CanFuseRelu, MakeReluStep}},
    {kTfLiteBuiltinRelu6,
     {"RELU6", false, ReadNothing<kTfLiteActRelu6>, CanFuseRelu, MakeReluStep}},
    {kTfLiteBuiltinPrelu,
     {"PRELU", false, ReadNothing<kTfLiteActNone>, CanFusePrelu, MakePreluStep}},
    {kTfLiteBuiltinMaxPool2d, {"MAX_POOL_2D", true, ReadPool, CanFuseMaxPool, MakeMaxPool2dStep}},
    {kTfLiteBuiltinConcatenation,
     {"CONCATENATION", true, ReadConcatenation, CanFuseConcatenation, MakeConcatenationStep}},
};

}  // namespace

const HostOp* FindHostOp(int32_t builtin_code) {
  for (const HostOpRow& row : kHostOps) {
    if (builtin_code == static_cast<int32_t>(row.code)) return &row.op;
  }
  return nullptr;
}

const HostOp* FindHostOp(std::string_view name) {
  for (const HostOpRow& row : kHostOps) {
    if (name == row.op.name) return &row.op;
  }
  return nullptr;
}

FloatRange ActivationRange(TfLiteFusedActivation activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (activation) {
    case kTfLiteActRelu:
      return {0, kInfinity};
    case kTfLiteActReluN1To1:
      return {-1, 1};
    case kTfLiteActRelu6:
      return {0, 6};
    case kTfLiteActNone:
      break;
  }
  return {-kInfinity, kInfinity};
}

std::vector<float> ReadChannelConstant(const TensorInfo& tensor) {
  if (!tensor.present || tensor.type != kTfLiteFloat32 || tensor.constant == nullptr) return {};
  const std::vector<int>& dims = tensor.dims;
  const int values = dims.empty() ? 1 : dims.back();
  const bool is_vector = std::all_of(dims.begin(), dims.empty() ? dims.end() : dims.end() - 1,
                                     [](int dim) { return dim == 1; });
  if (!is_vector || values < 1 || tensor.bytes != static_cast<uint64_t>(values) * sizeof(float)) {
    return {};
  }
  std::vector<float> constant(static_cast<size_t>(values));
  std::memcpy(constant.data(), tensor.constant, tensor.bytes);
  return constant;
}

}  // namespace larq_engine
