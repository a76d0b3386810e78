#include "tests/fuzz/fuzz_graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "tests/host/model_builder.h"

namespace larq_engine::testing {
namespace {

constexpr int kMaxOperators = 6;
constexpr int kMaxFaults = 3;

// Numbers around the edges of words and of SIMD widths.
constexpr int kChannels[] = {1, 3, 4, 31, 32, 33, 64, 65, 96, 128, 160};
constexpr int kFilters[] = {1, 2, 4, 7, 8, 16, 31, 32, 33, 40};
constexpr TfLiteType kInputTypes[] = {kTfLiteFloat32, kTfLiteInt8, kTfLiteBool, kTfLiteUInt8};
constexpr TfLiteType kDequantized[] = {kTfLiteFloat32, kTfLiteInt8, kTfLiteBool};
constexpr int kMostInt8Channels = 4;  // the plug-in takes convolutions of at most these
constexpr TfLiteType kConvOutputs[] = {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32, kTfLiteInt32};
constexpr TfLiteType kAllTypes[] = {kTfLiteNoType,  kTfLiteFloat32,
                                    kTfLiteInt32,   kTfLiteUInt8,
                                    kTfLiteInt64,   kTfLiteString,
                                    kTfLiteBool,    kTfLiteInt16,
                                    kTfLiteInt8,    kTfLiteFloat16,
                                    kTfLiteFloat64, kTfLiteResource,
                                    kTfLiteInt4,    static_cast<TfLiteType>(77)};
constexpr int kDimensions[] = {0,
                               1,
                               2,
                               3,
                               5,
                               8,
                               33,
                               1000,
                               65536,
                               -1,
                               -2,
                               std::numeric_limits<int>::max(),
                               std::numeric_limits<int>::min()};
constexpr int64_t kOptionValues[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     7,
                                     31,
                                     64,
                                     255,
                                     65536,
                                     -1,
                                     -2,
                                     std::numeric_limits<int32_t>::max(),
                                     std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
constexpr float kScales[] = {0.5f, 1e-38f, 1e-45f, 1e38f, 0.0f, -0.0f, -1.0f, NAN, INFINITY};
constexpr const char* kNames[] = {"LceQuantize", "LceDequantize", "LceBconv2d",
                                  "LceBConv2d",  "LceBMaxPool2d", "LceUnpackWeights",
                                  "LceBmatmul",  "lcebconv2d",    ""};
constexpr const char* kKeys[] = {
    "channels_in", "padding", "pad_values", "stride_height", "filter_width", "axis", "pad_left", "",
    "zoom",        "bits",    "bits_in",    "bits_weights",  "depth"};
constexpr int kWidths[] = {1, 2, 4, 8};
constexpr int kRelus[] = {builtin::kRelu, builtin::kReluN1To1, builtin::kRelu6};
constexpr TfLiteFusedActivation kActivations[] = {kTfLiteActNone, kTfLiteActRelu,
                                                  kTfLiteActReluN1To1, kTfLiteActRelu6};

ConvConfig MakeConv(ByteSource* bytes, int channels, int bits) {
  ConvConfig config;
  config.filters = bytes->OneOf(kFilters);
  config.filter_height = 1 + static_cast<int>(bytes->Below(4));
  config.filter_width = 1 + static_cast<int>(bytes->Below(4));
  config.stride_height = 1 + static_cast<int>(bytes->Below(3));
  config.stride_width = 1 + static_cast<int>(bytes->Below(3));
  config.dilation_height = 1 + static_cast<int>(bytes->Below(2));
  config.dilation_width = 1 + static_cast<int>(bytes->Below(3));
  const uint32_t padding = bytes->Below(4);
  config.padding = padding == 0 ? kValid : kSame;
  if (padding == 1) {
    const auto pad = [bytes] { return static_cast<int>(bytes->Below(8)); };
    config.pads = FilePads{.top = pad(), .bottom = pad(), .left = pad(), .right = pad()};
  }
  config.pad_values = static_cast<int>(bytes->Below(3)) - 1;
  config.activation = static_cast<int>(bytes->Below(4));
  config.output = bytes->OneOf(kConvOutputs);
  config.bits_in = bits;
  if (bytes->Below(4) == 0) config.bits_weights = 1 + static_cast<int>(bytes->Below(8));
  if (channels % 64 == 0 && bytes->Below(3) == 0) {
    config.groups = 2;
    config.filters *= 2;
  }
  return config;
}

PoolConfig MakePool(ByteSource* bytes) {
  PoolConfig config;
  config.filter_height = 1 + static_cast<int>(bytes->Below(4));
  config.filter_width = 1 + static_cast<int>(bytes->Below(4));
  config.stride_height = 1 + static_cast<int>(bytes->Below(3));
  config.stride_width = 1 + static_cast<int>(bytes->Below(3));
  config.padding = bytes->Below(3) == 0 ? kValid : kSame;
  return config;
}

// Adds weights of four dimensions, as a filter has; returns the last one.
int AddWeights(ByteSource* bytes, ModelBuilder* builder) {
  const std::vector<int> shape = {bytes->OneOf(kFilters), 1 + static_cast<int>(bytes->Below(3)),
                                  1 + static_cast<int>(bytes->Below(3)), bytes->OneOf(kChannels)};
  const int axis = static_cast<int>(bytes->Below(4));
  builder->AddUnpackWeights(shape, axis, bytes->Below(2) == 0 ? 1 : shape[axis]);
  return shape[3];
}

// Adds slices of an image, on any axis.
void AddSlices(ByteSource* bytes, ModelBuilder* builder) {
  const std::vector<int> whole = builder->shape();
  const auto axis = static_cast<size_t>(bytes->Below(4));
  const int size = whole[axis];
  const auto first = static_cast<int>(bytes->Below(std::min<size_t>(size + 1, 256)));
  std::vector<int> begin(4), end = whole, box = whole;
  switch (bytes->Below(4)) {
    case 0:
      builder->AddSplit(static_cast<int>(axis), size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1);
      break;
    case 1: {
      const int second = bytes->Below(2) == 0 ? -1 : size - first;
      builder->AddSplitV(static_cast<int>(axis), {first, second});
      break;
    }
    case 2:
      begin[axis] = first;
      box[axis] = size - first;
      builder->AddSlice(begin, box);
      break;
    default:
      end[axis] = first;
      builder->AddStridedSlice(begin, end);
  }
}

// Adds one of the host's operators on floats.
void AddHostOp(ByteSource* bytes, ModelBuilder* builder) {
  const int binary = bytes->Below(2) == 0 ? builtin::kAdd : builtin::kMul;
  // The second operand is a tensor of the same shape: a residual, or the last tensor itself.
  std::vector<int> same;
  const Graph graph = builder->Build();
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[i];
    if (!tensor.is_constant && tensor.type == kTfLiteFloat32 && tensor.shape == builder->shape()) {
      same.push_back(static_cast<int>(i));
    }
  }
  const int other = same[bytes->Below(same.size())];
  switch (bytes->Below(10)) {
    case 0:
      builder->AddBinary(binary, bytes->OneOf(kActivations));
      break;
    case 1:
      builder->AddBinary(binary, bytes->OneOf(kActivations), other);
      break;
    case 2:
      builder->AddRelu(bytes->OneOf(kRelus));
      break;
    case 3:
      builder->AddPrelu();
      break;
    case 4:
      builder->AddFloatPool(MakePool(bytes));
      break;
    case 5:
      builder->AddBinary(builtin::kSub, bytes->OneOf(kActivations));
      break;
    case 6: {
      const ConvConfig config = MakeConv(bytes, builder->shape()[3], 1);
      builder->AddFloatConv(config, bytes->Below(4) == 0);
      break;
    }
    case 7: {
      const ConvConfig config = MakeConv(bytes, builder->shape()[3], 1);
      builder->AddDepthwiseConv(config, bytes->Below(8) == 0 ? 2 : 1);
      break;
    }
    case 8:
      AddSlices(bytes, builder);
      break;
    default:
      builder->AddConcatenation({other});
  }
}

// A dense layer of one row is read as bits from this number of weights on.
constexpr int kWeightsReadAsBits = 1 << 16;

// Adds a dense layer that the plug-in takes: of all values, or of one pixel's if there is only one.
// Returns false if there are too few values.
bool AddSignedDense(ByteSource* bytes, ModelBuilder* builder) {
  int depth = 1;
  for (int size : builder->shape()) depth *= size;
  constexpr int kLeastDepth = 96;  // fewer would make more outputs than the host's limit
  if (depth < kLeastDepth) return false;
  const bool keeps_dims = depth == builder->shape().back() && bytes->Below(2) == 0;
  const int units = (kWeightsReadAsBits + depth - 1) / depth + bytes->OneOf(kFilters) - 1;
  builder->AddSignedDense(units, depth, bytes->OneOf(kActivations), keeps_dims);
  return true;
}

// Makes a path of operators that fit each other's types: values are quantized or go through the
// host's operators, and bits go anywhere. Weights start another path.
ModelBuilder MakeGood(ByteSource* bytes) {
  TfLiteType type = bytes->OneOf(kInputTypes);
  const std::vector<int> shape = {1 + static_cast<int>(bytes->Below(2)),
                                  1 + static_cast<int>(bytes->Below(7)),
                                  1 + static_cast<int>(bytes->Below(7)), bytes->OneOf(kChannels)};
  int channels = shape[3];
  int bits = 1;  // bits of each value of the last tensor, if it has bits
  ModelBuilder builder(type, shape, bytes->Byte());
  const size_t operators = 1 + bytes->Below(kMaxOperators);
  for (size_t i = 0; i < operators; ++i) {
    if (bytes->Below(16) == 15) {
      channels = AddWeights(bytes, &builder);
      type = kTfLiteFloat32;
      continue;
    }
    const bool is_image = builder.shape().size() == 4;
    if ((type == kTfLiteFloat32 || type == kTfLiteInt8) && bytes->Below(16) == 15 &&
        AddSignedDense(bytes, &builder)) {
      if (builder.shape().size() != 4) break;
      channels = builder.shape()[3];
      continue;
    }
    if (type == kTfLiteInt8 && is_image && channels <= kMostInt8Channels && bytes->Below(2) == 0) {
      const ConvConfig config = MakeConv(bytes, channels, 1);
      builder.AddInt8Conv(config, bytes->Below(2) == 0);
      channels = builder.shape()[3];
      continue;
    }
    if (type == kTfLiteFloat32 && is_image && bytes->Below(2) == 0) {
      AddHostOp(bytes, &builder);
      channels = builder.shape()[3];
      continue;
    }
    if (type != kTfLiteInt32) {
      const bool has_several = type == kTfLiteFloat32 && bytes->Below(4) == 0;
      bits = has_several ? 2 + static_cast<int>(bytes->Below(7)) : 1;
      if (type == kTfLiteUInt8) bits = 8;
      builder.AddQuantize(bits, has_several && bytes->Below(2) == 0);
      type = kTfLiteInt32;
      continue;
    }
    // Only convolutions take several bits.
    switch (bits > 1 ? 6 : bytes->Below(7)) {
      case 0:
        type = bytes->OneOf(kDequantized);
        builder.AddDequantize(type);
        break;
      case 1:
        builder.AddPool(MakePool(bytes));
        break;
      case 2:
        builder.AddSquare(channels);
        channels = builder.shape()[3];
        type = kTfLiteFloat32;
        break;
      default: {
        const ConvConfig config = MakeConv(bytes, channels, bits);
        builder.AddConv(config);
        channels = config.filters;
        type = config.output;
        bits = 1;
      }
    }
  }
  return builder;
}

// Returns the number of bytes of options before a bool: hosts turn a file's bool into 0 or 1.
size_t BytesBeforeBool(const GraphOperator& op) {
  switch (op.builtin_code) {
    case builtin::kFullyConnected:
      return offsetof(TfLiteFullyConnectedParams, keep_num_dims);
    case builtin::kStridedSlice:
      return offsetof(TfLiteStridedSliceParams, offset);
    default:
      return op.builtin_data.size();
  }
}

// Changes options of the host's operators. Their reader checks only that options exist.
void SpoilBuiltinData(ByteSource* bytes, GraphOperator* op) {
  std::vector<uint8_t>* data = &op->builtin_data;
  if (bytes->Below(8) == 0) data->clear();
  if (data->empty()) return;
  const size_t word = bytes->Below(BytesBeforeBool(*op) / sizeof(int32_t)) * sizeof(int32_t);
  const auto value = static_cast<int32_t>(bytes->OneOf(kOptionValues));
  std::memcpy(&(*data)[word], &value, sizeof(value));
}

// Changes options of operators that have options; the others' are empty.
void SpoilOptions(ByteSource* bytes, const ModelBuilder& builder, size_t index, Graph* graph) {
  if (graph->operators[index].builtin_code != builtin::kCustom) {
    SpoilBuiltinData(bytes, &graph->operators[index]);
    return;
  }
  OptionMap options = builder.Options(index);
  std::vector<uint8_t>& encoded = graph->operators[index].options;
  const int width = bytes->OneOf(kWidths);
  auto entry = options.begin();
  if (entry != options.end()) std::advance(entry, bytes->Below(options.size()));
  switch (bytes->Below(6)) {
    case 0:
    case 1:
      if (entry != options.end()) entry->second = bytes->OneOf(kOptionValues);
      encoded = EncodeOptions(options, width);
      break;
    case 2:
      if (entry != options.end()) options.erase(entry);
      encoded = EncodeOptions(options, width);
      break;
    case 3:
      options[bytes->OneOf(kKeys)] = bytes->OneOf(kOptionValues);
      encoded = EncodeOptions(options, width);
      break;
    case 4:
      encoded = EncodeOptions(options, width);
      for (size_t i = bytes->Below(4); i > 0; --i) {
        encoded[bytes->Byte() * 256u % encoded.size()] = bytes->Byte();
        encoded[encoded.size() - 1 - bytes->Below(std::min<size_t>(encoded.size(), 40))] ^=
            static_cast<uint8_t>(1u << bytes->Below(8));
      }
      encoded.resize(encoded.size() - bytes->Below(std::min<size_t>(encoded.size(), 3)));
      break;
    default:
      encoded = bytes->Bytes(bytes->Below(40));
  }
}

void SpoilTensor(ByteSource* bytes, GraphTensor* tensor) {
  switch (bytes->Below(11)) {
    case 0:
      tensor->type = bytes->OneOf(kAllTypes);
      break;
    case 1:
    case 2:
      if (!tensor->shape.empty()) {
        tensor->shape[bytes->Below(tensor->shape.size())] = bytes->OneOf(kDimensions);
      }
      break;
    case 3:
      tensor->shape.push_back(bytes->OneOf(kDimensions));
      break;
    case 4:
      if (!tensor->shape.empty()) tensor->shape.pop_back();
      break;
    case 5:
      tensor->is_constant = !tensor->is_constant;
      if (tensor->is_constant) tensor->data = bytes->Bytes(bytes->Byte());
      break;
    case 6:
      tensor->data.resize(tensor->data.size() / 2 + bytes->Byte());
      break;
    case 7:
      for (size_t i = bytes->Below(5); i > 0 && !tensor->data.empty(); --i) {
        tensor->data[bytes->Byte() * 257u % tensor->data.size()] = bytes->Byte();
      }
      break;
    case 8:
      tensor->is_quantized = bytes->Below(4) != 0;
      tensor->scales.assign(bytes->Below(4), bytes->OneOf(kScales));
      tensor->zero_points.assign(bytes->Below(4), bytes->OneOf(kDimensions));
      tensor->quantized_dimension = bytes->OneOf(kDimensions);
      break;
    case 9:
      tensor->name = "%s%n\"\\\xff";
      break;
    default:
      tensor->shape_signature = tensor->shape;
      if (!tensor->shape_signature.empty()) tensor->shape_signature[0] = -1;
  }
}

void SpoilWiring(ByteSource* bytes, size_t index, Graph* graph) {
  GraphOperator& op = graph->operators[index];
  const int any_tensor =
      static_cast<int>(bytes->Below(std::min<size_t>(graph->tensors.size(), 256)));
  switch (bytes->Below(8)) {
    case 0:
      if (!op.inputs.empty()) op.inputs[bytes->Below(op.inputs.size())] = any_tensor;
      break;
    case 1:
      if (!op.inputs.empty()) op.inputs[bytes->Below(op.inputs.size())] = kTfLiteOptionalTensor;
      break;
    case 2:
      op.inputs.push_back(any_tensor);
      break;
    case 3:
      if (!op.inputs.empty()) op.inputs.pop_back();
      break;
    case 4:
      op.outputs = {any_tensor};
      break;
    case 5:
      op.outputs.push_back(any_tensor);
      break;
    case 6:
      op.outputs.clear();
      break;
    default:
      op.custom_name = bytes->OneOf(kNames);
  }
}

}  // namespace

Graph MakeFuzzGraph(ByteSource* bytes) {
  // Faults are drawn first, so that a short input still has both a fault and varied operators.
  const size_t faults = bytes->Below(kMaxFaults + 1);
  const ModelBuilder builder = MakeGood(bytes);
  Graph graph = builder.Build();
  // An inner tensor may be an output; the plan then uses the host's memory for it.
  if (bytes->Below(4) == 0) {
    graph.outputs.push_back(graph.operators[bytes->Below(graph.operators.size())].outputs[0]);
  }
  for (size_t i = 0; i < faults; ++i) {
    const size_t op = bytes->Below(graph.operators.size());
    switch (bytes->Below(5)) {
      case 0:
      case 1:
        SpoilOptions(bytes, builder, op, &graph);
        break;
      case 2:
      case 3:
        SpoilTensor(bytes,
                    &graph.tensors[bytes->Below(std::min<size_t>(graph.tensors.size(), 256))]);
        break;
      case 4:
        SpoilWiring(bytes, op, &graph);
        break;
    }
  }
  return graph;
}

}  // namespace larq_engine::testing
