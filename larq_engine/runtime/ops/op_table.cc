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

template <typename Params>
std::optional<Window2d> ReadWindow(const Params& params) {
  if (params.padding != kTfLitePaddingSame && params.padding != kTfLitePaddingValid) {
    return std::nullopt;
  }
  const AxisPadding padding{.same = params.padding == kTfLitePaddingSame};
  Window2d window{.height = {.stride = params.stride_height, .padding = padding},
                  .width = {.stride = params.stride_width, .padding = padding}};
  if constexpr (requires { params.filter_height; }) {
    window.height.taps = params.filter_height;
    window.width.taps = params.filter_width;
  }
  return window;
}

HostOptions ReadPool(const void* builtin_data) {
  const auto& params = *static_cast<const TfLitePoolParams*>(builtin_data);
  return {.activation = ReadActivation(params.activation), .window = ReadWindow(params)};
}

// Dilated convolutions get no window, and so stay with the host.
template <typename Params>
HostOptions ReadConv(const void* builtin_data) {
  const auto& params = *static_cast<const Params*>(builtin_data);
  HostOptions options{.activation = ReadActivation(params.activation)};
  if (params.dilation_height_factor == 1 && params.dilation_width_factor == 1) {
    options.window = ReadWindow(params);
  }
  if constexpr (requires { params.depth_multiplier; }) {
    options.depth_multiplier = params.depth_multiplier;
  }
  return options;
}

// Weights in an order of their own get no activation, and so stay with the host.
HostOptions ReadDense(const void* builtin_data) {
  const auto& params = *static_cast<const TfLiteFullyConnectedParams*>(builtin_data);
  return {.activation = params.weights_format == kTfLiteFullyConnectedWeightsFormatDefault
                            ? ReadActivation(params.activation)
                            : std::nullopt,
          .keep_dims = params.keep_num_dims};
}

HostOptions ReadReducer(const void* builtin_data) {
  return {.keep_dims = static_cast<const TfLiteReducerParams*>(builtin_data)->keep_dims};
}

HostOptions ReadSoftmax(const void* builtin_data) {
  return {.beta = static_cast<const TfLiteSoftmaxParams*>(builtin_data)->beta};
}

// Only boxes that keep all dimensions are taken over.
HostOptions ReadStridedSlice(const void* builtin_data) {
  const auto& params = *static_cast<const TfLiteStridedSliceParams*>(builtin_data);
  if ((params.ellipsis_mask | params.new_axis_mask | params.shrink_axis_mask) != 0 ||
      params.offset) {
    return {};
  }
  return {.strided_slice = StridedSliceMasks{params.begin_mask, params.end_mask}};
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

template <auto kCanClaim, auto... kArguments>
bool CanClaim(const OpInfo& op) {
  return kCanClaim(op, kArguments...);
}

// Makes a row for an operator of the host that we compute on GPUs only.
template <typename T, auto... kArguments>
constexpr KnownOp ForGpusOnly(const char* name, TfLiteBuiltinOperator code,
                              HostOptions (*read_options)(const void*)) {
  static_assert(kIsForGpusOnly<T>);
  return {.name = name,
          .read = Read<T::Read, kArguments...>,
          .read_options = read_options,
          .can_claim = CanClaim<T::CanClaim, kArguments...>,
          .needs_options = true,
          .is_for_gpus_only = [](const OpInfo&) { return true; },
          .code = code};
}

// Makes such a row for an operator without options, or whose options follow from its tensors.
template <typename T, auto... kArguments>
constexpr KnownOp ForGpusOnly(const char* name, TfLiteBuiltinOperator code) {
  KnownOp row = ForGpusOnly<T, kArguments...>(name, code, ReadNone<Activation::kNone>);
  row.needs_options = false;
  return row;
}

// Makes a row for a function of one value.
template <UnaryOp::Function kFunction>
constexpr KnownOp Unary(const char* name, TfLiteBuiltinOperator code) {
  return {.name = name,
          .read = Read<UnaryOp::Read, kFunction>,
          .read_options = ReadNone<Activation::kNone>,
          .can_claim = UnaryOp::CanClaim,
          .is_for_gpus_only = UnaryOp::IsForGpusOnly,
          .must_be_read = true,
          .code = code};
}

// STRIDED_SLICE has options; the other forms are described by their tensors only.
template <SliceOp::Form kForm>
constexpr KnownOp Slice(const char* name, TfLiteBuiltinOperator code) {
  constexpr bool kHasOptions = kForm == SliceOp::kStridedSlice;
  return {.name = name,
          .read = Read<SliceOp::Read, kForm>,
          .read_options = kHasOptions ? ReadStridedSlice : ReadNone<Activation::kNone>,
          .can_claim = CanClaim<SliceOp::CanClaim, kForm>,
          .needs_options = kHasOptions,
          .makes_several = kForm == SliceOp::kSplit || kForm == SliceOp::kSplitV,
          .code = code};
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
    {.name = "SUB",
     .read = Read<BinaryOp::ReadDifference>,
     .read_options = ReadFused<TfLiteSubParams>,
     .can_claim = BinaryOp::CanClaimDifference,
     .needs_options = true,
     .code = kTfLiteBuiltinSub},
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
    {.name = "FULLY_CONNECTED",
     .read = Read<SignedDenseOp::Read>,
     .read_options = ReadDense,
     .can_claim = SignedDenseOp::CanClaim,
     .needs_options = true,
     .form = OpForm::kWeightBits,
     .code = kTfLiteBuiltinFullyConnected},
    {.name = "CONV_2D",
     .read = Read<Int8Conv2dOp::Read>,
     .read_options = ReadConv<TfLiteConvParams>,
     .can_claim = Int8Conv2dOp::CanClaim,
     .needs_options = true,
     .form = OpForm::kInt8,
     .code = kTfLiteBuiltinConv2d},
    {.name = "CONV_2D",
     .read = Read<Conv2dOp::Read, false>,
     .read_options = ReadConv<TfLiteConvParams>,
     .can_claim = CanClaim<Conv2dOp::CanClaim, false>,
     .needs_options = true,
     .is_float_conv = true,
     .code = kTfLiteBuiltinConv2d},
    {.name = "DEPTHWISE_CONV_2D",
     .read = Read<Conv2dOp::Read, true>,
     .read_options = ReadConv<TfLiteDepthwiseConvParams>,
     .can_claim = CanClaim<Conv2dOp::CanClaim, true>,
     .needs_options = true,
     .is_for_gpus_only = Conv2dOp::IsForGpusOnly,
     .is_float_conv = true,
     .code = kTfLiteBuiltinDepthwiseConv2d},
    {.name = "FULLY_CONNECTED",
     .read = Read<DenseOp::Read>,
     .read_options = ReadDense,
     .can_claim = DenseOp::CanClaim,
     .needs_options = true,
     .is_for_gpus_only = DenseOp::IsForGpusOnly,
     .must_be_read = true,
     .code = kTfLiteBuiltinFullyConnected},
    {.name = "AVERAGE_POOL_2D",
     .read = Read<AveragePool2dOp::Read>,
     .read_options = ReadPool,
     .can_claim = AveragePool2dOp::CanClaim,
     .needs_options = true,
     .must_be_read = true,
     .code = kTfLiteBuiltinAveragePool2d},
    {.name = "MEAN",
     .read = Read<MeanOp::Read>,
     .read_options = ReadReducer,
     .can_claim = MeanOp::CanClaim,
     .needs_options = true,
     .must_be_read = true,
     .code = kTfLiteBuiltinMean},
    ForGpusOnly<SoftmaxOp>("SOFTMAX", kTfLiteBuiltinSoftmax, ReadSoftmax),
    Unary<UnaryOp::kLogistic>("LOGISTIC", kTfLiteBuiltinLogistic),
    ForGpusOnly<BytesToFloatsOp, BytesToFloatsOp::kCast>("CAST", kTfLiteBuiltinCast),
    ForGpusOnly<BytesToFloatsOp, BytesToFloatsOp::kDequantize>("DEQUANTIZE",
                                                               kTfLiteBuiltinDequantize),
    ForGpusOnly<PadOp>("PAD", kTfLiteBuiltinPad),
    ForGpusOnly<PadOp>("PADV2", kTfLiteBuiltinPadv2),
    ForGpusOnly<ReshapeOp>("RESHAPE", kTfLiteBuiltinReshape),
    Slice<SliceOp::kSplit>("SPLIT", kTfLiteBuiltinSplit),
    Slice<SliceOp::kSplitV>("SPLIT_V", kTfLiteBuiltinSplitV),
    Slice<SliceOp::kSlice>("SLICE", kTfLiteBuiltinSlice),
    Slice<SliceOp::kStridedSlice>("STRIDED_SLICE", kTfLiteBuiltinStridedSlice),
};

static_assert(kOps[kOurOps - 1].is_ours() && !kOps[kOurOps].is_ours());

}  // namespace

std::span<const KnownOp> KnownOps() { return kOps; }

const KnownOp* FindOp(int32_t builtin_code, const char* custom_name) {
  for (const KnownOp& row : kOps) {
    if (builtin_code != static_cast<int32_t>(row.code) || row.form != OpForm::kUsual) continue;
    if (!row.is_ours() || (custom_name != nullptr && row.name == std::string_view(custom_name))) {
      return &row;
    }
  }
  return nullptr;
}

const KnownOp* FindOpOfForm(const KnownOp& op, OpForm form) {
  for (const KnownOp& row : kOps) {
    if (row.form == form && row.code == op.code) return &row;
  }
  return nullptr;
}

}  // namespace larq_engine
