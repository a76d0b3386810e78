#include "larq_engine/runtime/ops/op_table.h"

namespace larq_engine {
namespace {

template <auto kRead, auto... kArguments>
Op Read(const OpInfo& op) {
  return kRead(op, kArguments...);
}

template <auto kCanClaim, auto... kArguments>
bool CanClaim(const OpInfo& op) {
  return kCanClaim(op, kArguments...);
}

// Makes a row for an operator that is always the host's on the CPU. With a GPU it is claimed, so
// that tensors need not leave the GPU's memory.
template <typename T, auto... kArguments>
constexpr KnownOp HostsOnCpu(const char* name, int code) {
  return {.name = name,
          .read = Read<T::Read, kArguments...>,
          .can_claim = CanClaim<T::CanClaim, kArguments...>,
          .is_hosts_on_cpu = [](const OpInfo&) { return true; },
          .code = code};
}

// Makes a row for a function of one value.
template <UnaryOp::Function kFunction>
constexpr KnownOp Unary(const char* name, int code) {
  return {.name = name,
          .read = Read<UnaryOp::Read, kFunction>,
          .can_claim = UnaryOp::CanClaim,
          .is_hosts_on_cpu = UnaryOp::IsHostsOnCpu,
          .must_be_read = true,
          .code = code};
}

template <SliceOp::Form kForm>
constexpr KnownOp Slice(const char* name, int code) {
  return {.name = name,
          .read = Read<SliceOp::Read, kForm>,
          .can_claim = CanClaim<SliceOp::CanClaim, kForm>,
          .makes_several = kForm == SliceOp::kSplit || kForm == SliceOp::kSplitV,
          .code = code};
}

// Makes a row for a form of an operator that hosts compute by themselves.
template <auto kRead, auto kCanClaim, auto... kArguments>
constexpr KnownOp FormLeftToHosts(const char* name, int code) {
  return {.name = name,
          .read = Read<kRead, kArguments...>,
          .can_claim = CanClaim<kCanClaim, kArguments...>,
          .is_left_to_hosts = true,
          .code = code};
}

// Makes a row for an operator that hosts compute by themselves.
template <typename T, auto... kArguments>
constexpr KnownOp LeftToHosts(const char* name, int code) {
  return FormLeftToHosts<T::Read, T::CanClaim, kArguments...>(name, code);
}

template <ValueFunction kFunction>
constexpr KnownOp Function(const char* name, int code) {
  return LeftToHosts<FunctionOp, kFunction>(name, code);
}

template <PairFunction kFunction>
constexpr KnownOp Pair(const char* name, int code) {
  return LeftToHosts<PairOp, kFunction>(name, code);
}

// Makes a row for an operator that moves elements, in models without a host.
template <ViewOp::Form kForm>
constexpr KnownOp ViewRow(const char* name, int code) {
  return {.name = name,
          .read = Read<ViewOp::Read, kForm>,
          .can_claim = CanClaim<ViewOp::CanClaim, kForm>,
          .makes_several = kForm == ViewOp::kUnpack,
          .is_left_to_hosts = true,
          .code = code};
}

// LCE's converter writes "LceBconv2d"; its sources and documents also spell "LceBConv2d".
constexpr KnownOp kOps[] = {
    {.name = "LceQuantize", .read = Read<QuantizeOp::Read>},
    {.name = "LceDequantize", .read = Read<DequantizeOp::Read>},
    {.name = "LceBconv2d", .read = Read<Bconv2dOp::Read>},
    {.name = "LceBConv2d", .read = Read<Bconv2dOp::Read>},
    {.name = "LceBMaxPool2d", .read = Read<MaxPool2dOp::ReadOfBits>},
    {.name = "LceBmatmul", .read = Read<BmatmulOp::Read>},
    {.name = "LceUnpackWeights", .read = nullptr},
    {.name = "ADD",
     .read = Read<BinaryOp::Read, ChannelOp::kAdd>,
     .can_claim = BinaryOp::CanClaim,
     .code = builtin::kAdd},
    {.name = "SUB",
     .read = Read<BinaryOp::ReadDifference>,
     .can_claim = BinaryOp::CanClaimDifference,
     .code = builtin::kSub},
    {.name = "MUL",
     .read = Read<BinaryOp::Read, ChannelOp::kMultiply>,
     .can_claim = BinaryOp::CanClaim,
     .code = builtin::kMul},
    {.name = "RELU",
     .read = Read<ClampOp::Read, Activation::kRelu>,
     .can_claim = ClampOp::CanClaim,
     .code = builtin::kRelu},
    {.name = "RELU_N1_TO_1",
     .read = Read<ClampOp::Read, Activation::kReluN1To1>,
     .can_claim = ClampOp::CanClaim,
     .code = builtin::kReluN1To1},
    {.name = "RELU6",
     .read = Read<ClampOp::Read, Activation::kRelu6>,
     .can_claim = ClampOp::CanClaim,
     .code = builtin::kRelu6},
    {.name = "PRELU",
     .read = Read<PreluOp::Read>,
     .can_claim = PreluOp::CanClaim,
     .code = builtin::kPrelu},
    {.name = "MAX_POOL_2D",
     .read = Read<MaxPool2dOp::ReadOfFloats>,
     .can_claim = MaxPool2dOp::CanClaimOfFloats,
     .code = builtin::kMaxPool2d},
    {.name = "CONCATENATION",
     .read = Read<ConcatenationOp::Read>,
     .can_claim = ConcatenationOp::CanClaim,
     .code = builtin::kConcatenation},
    {.name = "FULLY_CONNECTED",
     .read = Read<SignedDenseOp::Read>,
     .can_claim = SignedDenseOp::CanClaim,
     .form = OpForm::kWeightBits,
     .code = builtin::kFullyConnected},
    {.name = "CONV_2D",
     .read = Read<Int8Conv2dOp::Read, Int8Conv2dOp::kUsual>,
     .can_claim = Int8Conv2dOp::CanClaim,
     .form = OpForm::kInt8,
     .code = builtin::kConv2d},
    {.name = "CONV_2D",
     .read = Read<Conv2dOp::Read, Conv2dOp::kUsual>,
     .can_claim = CanClaim<Conv2dOp::CanClaim, Conv2dOp::kUsual>,
     .is_float_conv = true,
     .code = builtin::kConv2d},
    {.name = "DEPTHWISE_CONV_2D",
     .read = Read<Conv2dOp::Read, Conv2dOp::kDepthwise>,
     .can_claim = CanClaim<Conv2dOp::CanClaim, Conv2dOp::kDepthwise>,
     .is_hosts_on_cpu = Conv2dOp::IsHostsOnCpu,
     .is_float_conv = true,
     .code = builtin::kDepthwiseConv2d},
    {.name = "FULLY_CONNECTED",
     .read = Read<DenseOp::Read>,
     .can_claim = DenseOp::CanClaim,
     .is_hosts_on_cpu = DenseOp::IsHostsOnCpu,
     .must_be_read = true,
     .code = builtin::kFullyConnected},
    {.name = "AVERAGE_POOL_2D",
     .read = Read<AveragePool2dOp::Read>,
     .can_claim = AveragePool2dOp::CanClaim,
     .must_be_read = true,
     .code = builtin::kAveragePool2d},
    {.name = "MEAN",
     .read = Read<MeanOp::Read>,
     .can_claim = MeanOp::CanClaim,
     .must_be_read = true,
     .code = builtin::kMean},
    HostsOnCpu<SoftmaxOp>("SOFTMAX", builtin::kSoftmax),
    Unary<UnaryOp::kLogistic>("LOGISTIC", builtin::kLogistic),
    HostsOnCpu<BytesToFloatsOp, BytesToFloatsOp::kCast>("CAST", builtin::kCast),
    HostsOnCpu<BytesToFloatsOp, BytesToFloatsOp::kDequantize>("DEQUANTIZE", builtin::kDequantize),
    HostsOnCpu<PadOp>("PAD", builtin::kPad),
    HostsOnCpu<PadOp>("PADV2", builtin::kPadv2),
    HostsOnCpu<ReshapeOp>("RESHAPE", builtin::kReshape),
    Slice<SliceOp::kSplit>("SPLIT", builtin::kSplit),
    Slice<SliceOp::kSplitV>("SPLIT_V", builtin::kSplitV),
    Slice<SliceOp::kSlice>("SLICE", builtin::kSlice),
    Slice<SliceOp::kStridedSlice>("STRIDED_SLICE", builtin::kStridedSlice),
    Function<ValueFunction::kAbs>("ABS", builtin::kAbs),
    Function<ValueFunction::kCeil>("CEIL", builtin::kCeil),
    Function<ValueFunction::kCos>("COS", builtin::kCos),
    Function<ValueFunction::kElu>("ELU", builtin::kElu),
    Function<ValueFunction::kExp>("EXP", builtin::kExp),
    Function<ValueFunction::kFloor>("FLOOR", builtin::kFloor),
    Function<ValueFunction::kGelu>("GELU", builtin::kGelu),
    Function<ValueFunction::kHardSwish>("HARD_SWISH", builtin::kHardSwish),
    Function<ValueFunction::kLeakyRelu>("LEAKY_RELU", builtin::kLeakyRelu),
    Function<ValueFunction::kLog>("LOG", builtin::kLog),
    Function<ValueFunction::kLogicalNot>("LOGICAL_NOT", builtin::kLogicalNot),
    Function<ValueFunction::kLogistic>("LOGISTIC", builtin::kLogistic),
    Function<ValueFunction::kNeg>("NEG", builtin::kNeg),
    Function<ValueFunction::kRelu>("RELU", builtin::kRelu),
    Function<ValueFunction::kRelu0To1>("RELU_0_TO_1", builtin::kRelu0To1),
    Function<ValueFunction::kRelu6>("RELU6", builtin::kRelu6),
    Function<ValueFunction::kReluN1To1>("RELU_N1_TO_1", builtin::kReluN1To1),
    Function<ValueFunction::kRound>("ROUND", builtin::kRound),
    Function<ValueFunction::kRsqrt>("RSQRT", builtin::kRsqrt),
    Function<ValueFunction::kSign>("SIGN", builtin::kSign),
    Function<ValueFunction::kSin>("SIN", builtin::kSin),
    Function<ValueFunction::kSqrt>("SQRT", builtin::kSqrt),
    Function<ValueFunction::kSquare>("SQUARE", builtin::kSquare),
    Function<ValueFunction::kTanh>("TANH", builtin::kTanh),
    ViewRow<ViewOp::kStridedSlice>("STRIDED_SLICE", builtin::kStridedSlice),
    ViewRow<ViewOp::kTranspose>("TRANSPOSE", builtin::kTranspose),
    ViewRow<ViewOp::kExpandDims>("EXPAND_DIMS", builtin::kExpandDims),
    ViewRow<ViewOp::kSqueeze>("SQUEEZE", builtin::kSqueeze),
    ViewRow<ViewOp::kReshape>("RESHAPE", builtin::kReshape),
    ViewRow<ViewOp::kBroadcastTo>("BROADCAST_TO", builtin::kBroadcastTo),
    ViewRow<ViewOp::kTile>("TILE", builtin::kTile),
    ViewRow<ViewOp::kUnpack>("UNPACK", builtin::kUnpack),
    ViewRow<ViewOp::kGather>("GATHER", builtin::kGather),
    ViewRow<ViewOp::kMirrorPad>("MIRROR_PAD", builtin::kMirrorPad),
    ViewRow<ViewOp::kDepthToSpace>("DEPTH_TO_SPACE", builtin::kDepthToSpace),
    ViewRow<ViewOp::kSpaceToDepth>("SPACE_TO_DEPTH", builtin::kSpaceToDepth),
    ViewRow<ViewOp::kResizeNearest>("RESIZE_NEAREST_NEIGHBOR", builtin::kResizeNearestNeighbor),
    ViewRow<ViewOp::kReverse>("REVERSE_V2", builtin::kReverseV2),
    LeftToHosts<JoinOp, false>("CONCATENATION", builtin::kConcatenation),
    LeftToHosts<JoinOp, true>("PACK", builtin::kPack),
    Pair<PairFunction::kAdd>("ADD", builtin::kAdd),
    Pair<PairFunction::kDiv>("DIV", builtin::kDiv),
    Pair<PairFunction::kEqual>("EQUAL", builtin::kEqual),
    Pair<PairFunction::kFloorDiv>("FLOOR_DIV", builtin::kFloorDiv),
    Pair<PairFunction::kFloorMod>("FLOOR_MOD", builtin::kFloorMod),
    Pair<PairFunction::kGreater>("GREATER", builtin::kGreater),
    Pair<PairFunction::kGreaterEqual>("GREATER_EQUAL", builtin::kGreaterEqual),
    Pair<PairFunction::kLess>("LESS", builtin::kLess),
    Pair<PairFunction::kLessEqual>("LESS_EQUAL", builtin::kLessEqual),
    Pair<PairFunction::kLogicalAnd>("LOGICAL_AND", builtin::kLogicalAnd),
    Pair<PairFunction::kLogicalOr>("LOGICAL_OR", builtin::kLogicalOr),
    Pair<PairFunction::kMaximum>("MAXIMUM", builtin::kMaximum),
    Pair<PairFunction::kMinimum>("MINIMUM", builtin::kMinimum),
    Pair<PairFunction::kMul>("MUL", builtin::kMul),
    Pair<PairFunction::kNotEqual>("NOT_EQUAL", builtin::kNotEqual),
    Pair<PairFunction::kPow>("POW", builtin::kPow),
    Pair<PairFunction::kPrelu>("PRELU", builtin::kPrelu),
    Pair<PairFunction::kSquaredDifference>("SQUARED_DIFFERENCE", builtin::kSquaredDifference),
    Pair<PairFunction::kSub>("SUB", builtin::kSub),
    LeftToHosts<SelectOp, SelectOp::kSelect>("SELECT", builtin::kSelect),
    LeftToHosts<SelectOp, SelectOp::kSelectV2>("SELECT_V2", builtin::kSelectV2),
    LeftToHosts<ArgMaxOp, ArgMaxOp::kArgMax>("ARG_MAX", builtin::kArgMax),
    LeftToHosts<ArgMaxOp, ArgMaxOp::kArgMin>("ARG_MIN", builtin::kArgMin),
    LeftToHosts<CastOp>("CAST", builtin::kCast),
    FormLeftToHosts<Conv2dOp::Read, Conv2dOp::CanClaimAny, Conv2dOp::kGrouped>("CONV_2D",
                                                                               builtin::kConv2d),
    FormLeftToHosts<Conv2dOp::Read, Conv2dOp::CanClaimAny, Conv2dOp::kDepthwise>(
        "DEPTHWISE_CONV_2D", builtin::kDepthwiseConv2d),
    LeftToHosts<FloatsToBytesOp>("QUANTIZE", builtin::kQuantize),
    FormLeftToHosts<ByteTableOp::ReadRescale, ByteTableOp::CanClaimRescale>("QUANTIZE",
                                                                            builtin::kQuantize),
    FormLeftToHosts<Int8Conv2dOp::Read, Int8Conv2dOp::CanClaimAny, Int8Conv2dOp::kGrouped>(
        "CONV_2D", builtin::kConv2d),
    FormLeftToHosts<Int8Conv2dOp::Read, Int8Conv2dOp::CanClaimAny, Int8Conv2dOp::kDepthwise>(
        "DEPTHWISE_CONV_2D", builtin::kDepthwiseConv2d),
    LeftToHosts<Int8DenseOp>("FULLY_CONNECTED", builtin::kFullyConnected),
    LeftToHosts<Int8MeanOp>("MEAN", builtin::kMean),
    LeftToHosts<Int8BinaryOp, Int8BinaryOp::kAdd>("ADD", builtin::kAdd),
    LeftToHosts<Int8BinaryOp, Int8BinaryOp::kSubtract>("SUB", builtin::kSub),
    LeftToHosts<Int8BinaryOp, Int8BinaryOp::kMultiply>("MUL", builtin::kMul),
    LeftToHosts<Int8PoolOp, Int8PoolOp::kAverage>("AVERAGE_POOL_2D", builtin::kAveragePool2d),
    LeftToHosts<Int8PoolOp, Int8PoolOp::kMax>("MAX_POOL_2D", builtin::kMaxPool2d),
    LeftToHosts<Int8SoftmaxOp>("SOFTMAX", builtin::kSoftmax),
    LeftToHosts<PadBytesOp>("PAD", builtin::kPad),
    LeftToHosts<PadBytesOp>("PADV2", builtin::kPadv2),
    LeftToHosts<PadIntsOp>("PAD", builtin::kPad),
    LeftToHosts<PadIntsOp>("PADV2", builtin::kPadv2),
    FormLeftToHosts<ByteTableOp::ReadClamp, ByteTableOp::CanClaimClamp, Activation::kRelu>(
        "RELU", builtin::kRelu),
    FormLeftToHosts<ByteTableOp::ReadClamp, ByteTableOp::CanClaimClamp, Activation::kRelu6>(
        "RELU6", builtin::kRelu6),
    FormLeftToHosts<ByteTableOp::ReadLogistic, ByteTableOp::CanClaimLogistic>("LOGISTIC",
                                                                              builtin::kLogistic),
    FormLeftToHosts<ByteTableOp::ReadTanh, ByteTableOp::CanClaimTanh>("TANH", builtin::kTanh),
    LeftToHosts<TransposedConv2dOp>("TRANSPOSE_CONV", builtin::kTransposeConv),
    LeftToHosts<Int8TransposedConv2dOp>("TRANSPOSE_CONV", builtin::kTransposeConv),
    LeftToHosts<ResizeBilinearOp>("RESIZE_BILINEAR", builtin::kResizeBilinear),
    LeftToHosts<BatchMatmulOp>("BATCH_MATMUL", builtin::kBatchMatmul),
    LeftToHosts<GatherOp, GatherOp::kGather>("GATHER", builtin::kGather),
    LeftToHosts<GatherOp, GatherOp::kGatherNd>("GATHER_ND", builtin::kGatherNd),
    LeftToHosts<LogSoftmaxOp>("LOG_SOFTMAX", builtin::kLogSoftmax),
    LeftToHosts<ReductionOp, ReductionOp::kSum>("SUM", builtin::kSum),
    LeftToHosts<ReductionOp, ReductionOp::kMean>("MEAN", builtin::kMean),
    LeftToHosts<ReductionOp, ReductionOp::kProduct>("REDUCE_PROD", builtin::kReduceProd),
    LeftToHosts<ReductionOp, ReductionOp::kMaximum>("REDUCE_MAX", builtin::kReduceMax),
    LeftToHosts<ReductionOp, ReductionOp::kMinimum>("REDUCE_MIN", builtin::kReduceMin),
};

static_assert(kOps[kOurOps - 1].is_ours() && !kOps[kOurOps].is_ours());

}  // namespace

std::span<const KnownOp> KnownOps() { return kOps; }

bool KnownOp::IsFor(int builtin_code, const char* custom_name) const {
  if (builtin_code != code) return false;
  return !is_ours() || (custom_name != nullptr && name == std::string_view(custom_name));
}

const KnownOp* FindOp(int32_t builtin_code, const char* custom_name) {
  for (const KnownOp& row : kOps) {
    if (row.form != OpForm::kUsual || row.is_left_to_hosts) continue;
    if (row.IsFor(builtin_code, custom_name)) return &row;
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
