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

// With a number of channels that the file says: one that it leaves open is declared as 1.
bool IsFloat(const TensorInfo& tensor) {
  const bool open_channels = !tensor.signature.empty() && tensor.signature.back() < 0;
  return tensor.present && tensor.type == kTfLiteFloat32 && !tensor.dims.empty() &&
         !open_channels &&
         std::all_of(tensor.dims.begin(), tensor.dims.end(), [](int dim) { return dim > 0; });
}

bool IsData(const TensorInfo& tensor) { return IsFloat(tensor) && tensor.constant == nullptr; }

bool IsKnown(TfLiteFusedActivation activation) {
  return activation == kTfLiteActNone || activation == kTfLiteActRelu ||
         activation == kTfLiteActReluN1To1 || activation == kTfLiteActRelu6;
}

bool HasInputs(const OpInfo& op, size_t count) {
  return op.inputs.size() == count && IsFloat(op.output);
}

// Of one shape whatever the sizes that the file leaves open. It declares those as 1, so that an
// image of any size looks like the gate of its channels.
bool HaveOneShape(const TensorInfo& a, const TensorInfo& b) {
  const auto signature = [](const TensorInfo& tensor) {
    return tensor.signature.empty() ? tensor.dims : tensor.signature;
  };
  return a.dims == b.dims && signature(a) == signature(b);
}

// Two tensors of one shape, or one and a constant for each channel.
bool CanFuseBinary(const OpInfo& op) {
  if (!HasInputs(op, 2) || !IsKnown(op.host_options.activation)) return false;
  const TensorInfo& a = op.inputs[0];
  const TensorInfo& b = op.inputs[1];
  if (IsData(a) && IsData(b)) return a.dims == op.output.dims && HaveOneShape(a, b);
  const TensorInfo& data = IsData(a) ? a : b;
  const TensorInfo& constant = IsData(a) ? b : a;
  return IsData(data) && data.dims == op.output.dims &&
         !ReadChannelConstant(constant, data.dims.back()).empty();
}

bool CanFuseRelu(const OpInfo& op) {
  return HasInputs(op, 1) && IsData(op.inputs[0]) && op.inputs[0].dims == op.output.dims;
}

bool CanFusePrelu(const OpInfo& op) {
  return HasInputs(op, 2) && IsData(op.inputs[0]) && op.inputs[0].dims == op.output.dims &&
         !ReadChannelConstant(op.inputs[1], op.inputs[0].dims.back()).empty();
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
    return IsData(input) && input.dims.size() == op.output.dims.size() &&
           std::equal(input.dims.begin(), input.dims.end() - 1, op.output.dims.begin());
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

std::vector<float> ReadChannelConstant(const TensorInfo& tensor, int channels) {
  if (!tensor.present || tensor.type != kTfLiteFloat32 || tensor.constant == nullptr) return {};
  const std::vector<int>& dims = tensor.dims;
  const int last = dims.empty() ? 1 : dims.back();
  const bool vector = (last == channels || last == 1) &&
                      std::all_of(dims.begin(), dims.empty() ? dims.end() : dims.end() - 1,
                                  [](int dim) { return dim == 1; });
  if (!vector || tensor.bytes != static_cast<uint64_t>(last) * sizeof(float)) return {};
  std::vector<float> values(static_cast<size_t>(last));
  std::memcpy(values.data(), tensor.constant, tensor.bytes);
  if (last == 1) values.assign(static_cast<size_t>(channels), values[0]);
  return values;
}

}  // namespace larq_engine
