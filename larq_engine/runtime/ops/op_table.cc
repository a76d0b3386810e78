#include "larq_engine/runtime/ops/op_table.h"

namespace larq_engine {
namespace {

std::optional<Activation> ReadActivation(TfLiteFusedActivation activation) {
  if (activation > kTfLiteActRelu6) return std::nullopt;
  return static_cast<Activation>(activation);
}

template <typename Params>
HostOptions ReadFused(const void* builtin_data) {
  return {.activation = ReadActivation(static_cast<const Params*>(builtin_data)->activation)};
}

HostOptions ReadPool(const void* builtin_data) {
  const auto& params = *static_cast<const TfLitePoolParams*>(builtin_data);
  HostOptions options{.activation = ReadActivation(params.activation)};
  if (params.padding == kTfLitePaddingSame || params.padding == kTfLitePaddingValid) {
    options.window = {.filter_height = params.filter_height,
                      .filter_width = params.filter_width,
                      .stride_height = params.stride_height,
                      .stride_width = params.stride_width,
                      .same = params.padding == kTfLitePaddingSame};
  }
  return options;
}

HostOptions ReadConcatenation(const void* builtin_data) {
  const auto& params = *static_cast<const TfLiteConcatenationParams*>(builtin_data);
  return {.activation = ReadActivation(params.activation), .axis = params.axis};
}

template <Activation kActivation>
HostOptions ReadNone(const void*) {
  return {.activation = kActivation};
}

template <auto kRead, auto... kArguments>
Op Read(const OpInfo& op) {
  return kRead(op, kArguments...);
}

// LCE's converter writes "LceBconv2d"; its sources and documents also spell "LceBConv2d".
constexpr KnownOp kOps[] = {
    {.name = "LceQuantize", .read = Read<QuantizeOp::Read>},
    {.name = "LceDequantize", .read = Read<DequantizeOp::Read>},
    {.name = "LceBconv2d", .read = Read<Bconv2dOp::Read>},
    {.name = "LceBConv2d", .read = Read<Bconv2dOp::Read>},
    {.name = "LceBMaxPool2d", .read = Read<MaxPool2dOp::ReadOfBits>},
    {.name = "LceUnpackWeights", .read = nullptr},
    {.name = "ADD",
     .read = Read<BinaryOp::Read, ChannelOp::kAdd>,
     .read_options = ReadFused<TfLiteAddParams>,
     .can_claim = BinaryOp::CanClaim,
     .needs_options = true,
     .code = kTfLiteBuiltinAdd},
    {.name = "MUL",
     .read = Read<BinaryOp::Read, ChannelOp::kMultiply>,
     .read_options = ReadFused<TfLiteMulParams>,
     .can_claim = BinaryOp::CanClaim,
     .needs_options = true,
     .code = kTfLiteBuiltinMul},
    {.name = "RELU",
     .read = Read<ClampOp::Read>,
     .read_options = ReadNone<Activation::kRelu>,
     .can_claim = ClampOp::CanClaim,
     .code = kTfLiteBuiltinRelu},
    {.name = "RELU_N1_TO_1",
     .read = Read<ClampOp::Read>,
     .read_options = ReadNone<Activation::kReluN1To1>,
     .can_claim = ClampOp::CanClaim,
     .code = kTfLiteBuiltinReluN1To1},
    {.name = "RELU6",
     .read = Read<ClampOp::Read>,
     .read_options = ReadNone<Activation::kRelu6>,
     .can_claim = ClampOp::CanClaim,
     .code = kTfLiteBuiltinRelu6},
    {.name = "PRELU",
     .read = Read<PreluOp::Read>,
     .read_options = ReadNone<Activation::kNone>,
     .can_claim = PreluOp::CanClaim,
     .code = kTfLiteBuiltinPrelu},
    {.name = "MAX_POOL_2D",
     .read = Read<MaxPool2dOp::ReadOfFloats>,
     .read_options = ReadPool,
     .can_claim = MaxPool2dOp::CanClaimOfFloats,
     .needs_options = true,
     .code = kTfLiteBuiltinMaxPool2d},
    {.name = "CONCATENATION",
     .read = Read<ConcatenationOp::Read>,
     .read_options = ReadConcatenation,
     .can_claim = ConcatenationOp::CanClaim,
     .needs_options = true,
     .code = kTfLiteBuiltinConcatenation},
};

static_assert(kOps[kOurOps - 1].is_ours() && !kOps[kOurOps].is_ours());

}  // namespace

std::span<const KnownOp> KnownOps() { return kOps; }

const KnownOp* FindOp(int32_t builtin_code, const char* custom_name) {
  for (const KnownOp& row : kOps) {
    if (builtin_code != static_cast<int32_t>(row.code)) continue;
    if (!row.is_ours() || (custom_name != nullptr && row.name == std::string_view(custom_name))) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace larq_engine
