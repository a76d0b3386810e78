#include "tests/host/model_builder.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace larq_engine::testing {
namespace {

// FlexBuffer types, and the layout of a type byte.
enum FlexType { kFlexInt = 1, kFlexMap = 9 };
uint8_t FlexTypeByte(FlexType type, int width) {
  const int log_width = width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;
  return static_cast<uint8_t>(type << 2 | log_width);
}

bool Fits(int64_t value, int width) {
  return width == 8 ||
         (value >= -(int64_t{1} << (8 * width - 1)) && value < (int64_t{1} << (8 * width - 1)));
}

void Append(std::vector<uint8_t>* bytes, int64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

template <typename T>
std::vector<uint8_t> ToBytes(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

int Words(int channels) { return (channels + 31) / 32; }

int OutputSize(int size, int filter, int stride, int dilation, FilePadding padding) {
  const int span = (filter - 1) * dilation + 1;
  if (padding == kSame) return (size + stride - 1) / stride;
  return size < span ? 0 : (size - span) / stride + 1;
}

TfLiteConvParams ConvParams(const ConvConfig& config) {
  return {.padding = config.padding == kSame ? kTfLitePaddingSame : kTfLitePaddingValid,
          .stride_width = config.stride_width,
          .stride_height = config.stride_height,
          .activation = static_cast<TfLiteFusedActivation>(config.activation),
          .dilation_width_factor = 1,
          .dilation_height_factor = 1};
}

}  // namespace

// Layout: the keys' texts; the key vector (count, then for each key the distance back to its text);
// the map (distance back to the key vector, width of that vector, count, values, a type byte for
// each value); the root (distance back to the map's values, its type byte, its width).
std::vector<uint8_t> EncodeOptions(const OptionMap& options, int width) {
  for (const auto& [key, value] : options) {
    while (!Fits(value, width)) width *= 2;
  }
  size_t longest_distance = 0;  // no distance exceeds the whole length
  for (const auto& [key, value] : options) longest_distance += key.size() + 2 + 2 * sizeof(int64_t);
  while (!Fits(static_cast<int64_t>(longest_distance + 40), width)) width *= 2;

  const int64_t count = static_cast<int64_t>(options.size());
  std::vector<uint8_t> bytes;
  auto align = [&bytes, width] { bytes.resize((bytes.size() + width - 1) / width * width); };
  std::vector<int64_t> texts;
  for (const auto& [key, value] : options) {
    texts.push_back(static_cast<int64_t>(bytes.size()));
    bytes.insert(bytes.end(), key.c_str(), key.c_str() + key.size() + 1);
  }
  align();
  Append(&bytes, count, width);
  const int64_t keys = static_cast<int64_t>(bytes.size());
  for (int64_t text : texts) Append(&bytes, static_cast<int64_t>(bytes.size()) - text, width);
  Append(&bytes, static_cast<int64_t>(bytes.size()) - keys, width);
  Append(&bytes, width, width);
  Append(&bytes, count, width);
  const int64_t values = static_cast<int64_t>(bytes.size());
  for (const auto& [key, value] : options) Append(&bytes, value, width);
  bytes.insert(bytes.end(), options.size(), FlexTypeByte(kFlexInt, width));
  align();
  Append(&bytes, static_cast<int64_t>(bytes.size()) - values, width);
  bytes.push_back(FlexTypeByte(kFlexMap, width));
  bytes.push_back(static_cast<uint8_t>(width));
  return bytes;
}

OptionMap ConvOptions(const ConvConfig& config, int channels_in) {
  OptionMap options = {{"channels_in", channels_in},
                       {"dilation_height_factor", config.dilation_height},
                       {"dilation_width_factor", config.dilation_width},
                       {"fused_activation_function", config.activation},
                       {"pad_values", config.pad_values},
                       {"stride_height", config.stride_height},
                       {"stride_width", config.stride_width}};
  if (config.pads) {
    options["pad_top"] = config.pads->top;
    options["pad_bottom"] = config.pads->bottom;
    options["pad_left"] = config.pads->left;
    options["pad_right"] = config.pads->right;
  } else {
    options["padding"] = config.padding;
  }
  if (config.bits_in > 1 || config.bits_weights > 1) {
    options["bits_in"] = config.bits_in;
    options["bits_weights"] = config.bits_weights;
  }
  return options;
}

OptionMap PoolOptions(const PoolConfig& config) {
  return {{"filter_height", config.filter_height},
          {"filter_width", config.filter_width},
          {"padding", config.padding},
          {"stride_height", config.stride_height},
          {"stride_width", config.stride_width}};
}

ModelBuilder::ModelBuilder(TfLiteType type, std::vector<int> shape, uint32_t seed)
    : shape_(std::move(shape)), random_(seed) {
  graph_.inputs = {AddTensor("input", type, shape_)};
  if (type == kTfLiteInt8) {
    graph_.tensors[0].is_quantized = true;
    graph_.tensors[0].scales = {0.05f};
    graph_.tensors[0].zero_points = {3};
  }
}

int ModelBuilder::AddTensor(const std::string& name, TfLiteType type, std::vector<int> shape) {
  if (type == kTfLiteInt32 && !shape.empty()) shape.back() = Words(shape.back());
  GraphTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int ModelBuilder::AddConstant(const std::string& name, TfLiteType type, std::vector<int> shape,
                              std::vector<uint8_t> data) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.is_constant = true;
  tensor.data = std::move(data);
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int ModelBuilder::AddInput(std::vector<int> shape) {
  const std::string name = "input" + std::to_string(graph_.inputs.size());
  graph_.inputs.push_back(AddTensor(name, kTfLiteFloat32, std::move(shape)));
  return graph_.inputs.back();
}

int ModelBuilder::LastTensor() const {
  return graph_.outputs.empty() ? graph_.inputs[0] : graph_.outputs[0];
}

std::string ModelBuilder::NextName(const std::string& kind) const {
  return kind + std::to_string(graph_.operators.size());
}

void ModelBuilder::AddOperator(const char* kind, std::vector<int> inputs, TfLiteType type,
                               std::vector<int> shape, const OptionMap& options) {
  const int output = AddTensor(NextName(kind), type, shape);
  shape_ = std::move(shape);
  if (type == kTfLiteInt8) {
    graph_.tensors[output].is_quantized = true;
    graph_.tensors[output].scales = {0.4f};
    graph_.tensors[output].zero_points = {-7};
  }
  GraphOperator op;
  op.custom_name = kind;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  if (!options.empty()) op.options = EncodeOptions(options);
  options_.push_back(options);
  graph_.operators.push_back(std::move(op));
  graph_.outputs = {output};
}

ModelBuilder& ModelBuilder::AddQuantize(int bits, bool has_channel_limits) {
  if (bits == 1) {
    AddOperator("LceQuantize", {LastTensor()}, kTfLiteInt32, shape_, {});
    return *this;
  }
  if (graph_.tensors[static_cast<size_t>(LastTensor())].type == kTfLiteUInt8) {
    AddOperator("LceQuantize", {LastTensor()}, kTfLiteInt32, shape_, {{"bits", bits}});
    graph_.tensors[static_cast<size_t>(LastTensor())].shape.back() *= bits;
    return *this;
  }
  const int count = (1 << bits) - 1;
  const int channels = has_channel_limits ? shape_.back() : 1;
  std::vector<float> limits(static_cast<size_t>(count) * static_cast<size_t>(channels));
  for (size_t i = 0; i < limits.size(); ++i) {
    const auto row = static_cast<float>(i / static_cast<size_t>(channels));
    limits[i] = (2 * row + 1) / static_cast<float>(count) - 1 +
                static_cast<float>(random_() % 64) / (32 * static_cast<float>(count));
  }
  std::vector<int> dims = {count};
  if (has_channel_limits) dims.push_back(channels);
  const int constant =
      AddConstant(NextName("LceQuantize") + "/limits", kTfLiteFloat32, dims, ToBytes(limits));
  AddOperator("LceQuantize", {LastTensor(), constant}, kTfLiteInt32, shape_, {{"bits", bits}});
  graph_.tensors[static_cast<size_t>(LastTensor())].shape.back() *= bits;
  return *this;
}

ModelBuilder& ModelBuilder::AddDequantize(TfLiteType type) {
  AddOperator("LceDequantize", {LastTensor()}, type, shape_, {});
  return *this;
}

ModelBuilder& ModelBuilder::AddConv(const ConvConfig& config) {
  const std::string name = NextName("LceBconv2d");
  const int channels_in = shape_[3];
  const int group_channels = channels_in / config.groups;
  const int words = Words(group_channels);
  const size_t filters = static_cast<size_t>(config.filters);
  const int depth = config.filter_height * config.filter_width * group_channels *
                    ((1 << config.bits_in) - 1) * ((1 << config.bits_weights) - 1);

  const int tap_words = words * config.bits_weights;
  std::vector<uint32_t> filter(filters * config.filter_height * config.filter_width * tap_words);
  for (size_t i = 0; i < filter.size(); ++i) {
    const int tail = group_channels % 32;
    const bool is_last = (i + 1) % words == 0;
    filter[i] = random_() & (is_last && tail != 0 ? (uint32_t{1} << tail) - 1 : ~uint32_t{0});
  }
  std::vector<int> inputs = {LastTensor(), AddConstant(name + "/filter", kTfLiteInt32,
                                                       {config.filters, config.filter_height,
                                                        config.filter_width, tap_words},
                                                       ToBytes(filter))};
  if (config.output == kTfLiteInt32) {
    std::vector<int32_t> thresholds(filters);
    for (int32_t& threshold : thresholds) threshold = static_cast<int>(random_() % (depth + 1));
    inputs.insert(inputs.end(), {kTfLiteOptionalTensor, kTfLiteOptionalTensor,
                                 AddConstant(name + "/threshold", kTfLiteInt32, {config.filters},
                                             ToBytes(thresholds))});
  } else {
    // Multipliers of both signs, and sometimes 0.
    std::vector<float> multipliers(filters), biases(filters);
    for (float& multiplier : multipliers) multiplier = (random_() % 65 - 32.0f) / 16;
    for (float& bias : biases) bias = (random_() % 513 - 256.0f) / 32;
    inputs.push_back(
        AddConstant(name + "/multiplier", kTfLiteFloat32, {config.filters}, ToBytes(multipliers)));
    inputs.push_back(
        AddConstant(name + "/bias", kTfLiteFloat32, {config.filters}, ToBytes(biases)));
    inputs.push_back(kTfLiteOptionalTensor);
  }
  const FilePads pads = config.pads.value_or(FilePads{});
  const FilePadding padding = config.pads ? kValid : config.padding;
  const std::vector<int> shape = {
      shape_[0],
      OutputSize(pads.top + shape_[1] + pads.bottom, config.filter_height, config.stride_height,
                 config.dilation_height, padding),
      OutputSize(pads.left + shape_[2] + pads.right, config.filter_width, config.stride_width,
                 config.dilation_width, padding),
      config.filters};
  AddOperator("LceBconv2d", inputs, config.output, shape, ConvOptions(config, channels_in));
  return *this;
}

ModelBuilder& ModelBuilder::AddSquare(int depth) {
  const std::vector<float> values = {1, -1, 1, 0};
  const int constant =
      AddConstant(NextName("LceBmatmul") + "/values", kTfLiteFloat32, {2, 2}, ToBytes(values));
  const std::vector<int> shape = {shape_[0], shape_[1], shape_[2], shape_[2]};
  AddOperator("LceBmatmul", {LastTensor(), LastTensor(), constant}, kTfLiteFloat32, shape,
              {{"depth", depth}});
  return *this;
}

ModelBuilder& ModelBuilder::AddPool(const PoolConfig& config) {
  const std::vector<int> shape = {
      shape_[0],
      OutputSize(shape_[1], config.filter_height, config.stride_height, 1, config.padding),
      OutputSize(shape_[2], config.filter_width, config.stride_width, 1, config.padding),
      shape_[3]};
  AddOperator("LceBMaxPool2d", {LastTensor()}, kTfLiteInt32, shape, PoolOptions(config));
  return *this;
}

ModelBuilder& ModelBuilder::AddUnpackWeights(std::vector<int> shape, int axis, int scales,
                                             TfLiteType type) {
  const std::string name = NextName("LceUnpackWeights");
  int elements = 1;
  for (int size : shape) elements *= size;
  std::vector<uint32_t> bits(Words(elements));
  for (uint32_t& word : bits) word = random_();
  if (elements % 32 != 0) bits.back() &= (uint32_t{1} << elements % 32) - 1;
  std::vector<float> scale(scales);
  for (float& value : scale) value = (random_() % 65 - 32.0f) / (type == kTfLiteInt8 ? 1 : 16);
  AddOperator("LceUnpackWeights",
              {AddConstant(name + "/bits", kTfLiteInt32, {Words(elements)}, ToBytes(bits)),
               AddConstant(name + "/scale", kTfLiteFloat32, {scales}, ToBytes(scale))},
              type, std::move(shape), {{"axis", axis}});
  return *this;
}

template <typename Params>
ModelBuilder& ModelBuilder::AddBuiltin(int code, std::vector<int> inputs, std::vector<int> shape,
                                       const Params& params, TfLiteType type) {
  AddOperator("builtin", std::move(inputs), type, std::move(shape), {});
  GraphOperator& op = graph_.operators.back();
  op.custom_name.clear();
  op.builtin_code = static_cast<int>(code);
  op.builtin_data.resize(sizeof(params));
  std::memcpy(op.builtin_data.data(), &params, sizeof(params));
  return *this;
}

int ModelBuilder::AddChannelConstant() {
  std::vector<float> values(static_cast<size_t>(shape_.back()));
  for (float& value : values) value = (random_() % 65 - 32.0f) / 16;
  return AddConstant(NextName("builtin") + "/constant", kTfLiteFloat32, {shape_.back()},
                     ToBytes(values));
}

ModelBuilder& ModelBuilder::AddBinary(int code, TfLiteFusedActivation activation,
                                      std::optional<int> other) {
  const int b = other ? *other : AddChannelConstant();
  // ADD and MUL have the same structure, as far as we declare it.
  return AddBuiltin(code, {LastTensor(), b}, shape_, TfLiteAddParams{activation});
}

ModelBuilder& ModelBuilder::AddRelu(int code) {
  AddBuiltin(code, {LastTensor()}, shape_, uint8_t{0});
  graph_.operators.back().builtin_data.clear();
  return *this;
}

ModelBuilder& ModelBuilder::AddPrelu() {
  AddBuiltin(builtin::kPrelu, {LastTensor(), AddChannelConstant()}, shape_, uint8_t{0});
  graph_.operators.back().builtin_data.clear();
  return *this;
}

ModelBuilder& ModelBuilder::AddFloatPool(const PoolConfig& config) {
  const std::vector<int> shape = {
      shape_[0],
      OutputSize(shape_[1], config.filter_height, config.stride_height, 1, config.padding),
      OutputSize(shape_[2], config.filter_width, config.stride_width, 1, config.padding),
      shape_[3]};
  const TfLitePoolParams params = {
      .padding = config.padding == kSame ? kTfLitePaddingSame : kTfLitePaddingValid,
      .stride_width = config.stride_width,
      .stride_height = config.stride_height,
      .filter_width = config.filter_width,
      .filter_height = config.filter_height,
      .activation = config.activation};
  return AddBuiltin(builtin::kMaxPool2d, {LastTensor()}, shape, params);
}

ModelBuilder& ModelBuilder::AddConcatenation(const std::vector<int>& others) {
  std::vector<int> inputs = {LastTensor()};
  std::vector<int> shape = shape_;
  for (int other : others) {
    inputs.push_back(other);
    shape.back() += graph_.tensors[static_cast<size_t>(other)].shape.back();
  }
  return AddBuiltin(builtin::kConcatenation, std::move(inputs), std::move(shape),
                    TfLiteConcatenationParams{.axis = -1, .activation = kTfLiteActNone});
}

void ModelBuilder::AddParts(std::vector<int> inputs, int code, int axis,
                            const std::vector<int>& sizes) {
  const std::vector<int> whole = shape_;
  const auto part = [&](size_t i) {
    std::vector<int> shape = whole;
    shape[static_cast<size_t>(axis)] = sizes[i];
    return shape;
  };
  AddBuiltin(code, std::move(inputs), part(0), static_cast<int>(sizes.size()));
  for (size_t i = 1; i < sizes.size(); ++i) {
    const std::string name = NextName("part") + "/" + std::to_string(i);
    graph_.operators.back().outputs.push_back(AddTensor(name, kTfLiteFloat32, part(i)));
  }
}

ModelBuilder& ModelBuilder::AddSplit(int axis, int parts) {
  const int constant = AddInts("axis", {axis});
  const int size = shape_[static_cast<size_t>(axis)] / parts;
  AddParts({constant, LastTensor()}, builtin::kSplit, axis,
           std::vector<int>(static_cast<size_t>(parts), size));
  return *this;
}

ModelBuilder& ModelBuilder::AddSplitV(int axis, const std::vector<int>& sizes) {
  const std::vector<int> inputs = {LastTensor(), AddInts("sizes", sizes), AddInts("axis", {axis})};
  std::vector<int> found = sizes;
  const auto open = std::find(found.begin(), found.end(), -1);
  if (open != found.end()) {
    *open = shape_[static_cast<size_t>(axis)] - 1 - std::accumulate(found.begin(), found.end(), 0);
  }
  AddParts(inputs, builtin::kSplitV, axis, found);
  return *this;
}

ModelBuilder& ModelBuilder::AddSlice(const std::vector<int>& begin, const std::vector<int>& size) {
  const std::vector<int> inputs = {LastTensor(), AddInts("begin", begin), AddInts("size", size)};
  AddBuiltin(builtin::kSlice, inputs, size, uint8_t{0});
  graph_.operators.back().builtin_data.clear();
  return *this;
}

ModelBuilder& ModelBuilder::AddStridedSlice(const std::vector<int>& begin,
                                            const std::vector<int>& end) {
  const std::vector<int> strides(begin.size(), 1);
  const std::vector<int> inputs = {LastTensor(), AddInts("begin", begin), AddInts("end", end),
                                   AddInts("strides", strides)};
  std::vector<int> shape = end;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] -= begin[i];
  return AddBuiltin(builtin::kStridedSlice, inputs, shape, TfLiteStridedSliceParams{});
}

int ModelBuilder::AddInts(const std::string& name, const std::vector<int>& values) {
  return AddConstant(NextName("builtin") + "/" + name, kTfLiteInt32,
                     {static_cast<int>(values.size())}, ToBytes(values));
}

// Adds floats whose products and sums round, as a model's do.
int ModelBuilder::AddFloats(const std::string& name, std::vector<int> shape) {
  size_t count = 1;
  for (int size : shape) count *= static_cast<size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) value = (random_() % 2001 - 1000.0f) / 999;
  return AddConstant(name, kTfLiteFloat32, std::move(shape), ToBytes(values));
}

std::vector<int> ModelBuilder::ConvShape(const ConvConfig& config, int channels) const {
  return {shape_[0],
          OutputSize(shape_[1], config.filter_height, config.stride_height, 1, config.padding),
          OutputSize(shape_[2], config.filter_width, config.stride_width, 1, config.padding),
          channels};
}

ModelBuilder& ModelBuilder::AddFloatConv(const ConvConfig& config, bool unpacks_weights) {
  const int input = LastTensor();
  const std::vector<int> shape = ConvShape(config, config.filters);
  const std::vector<int> dims = {config.filters, config.filter_height, config.filter_width,
                                 shape_[3]};
  int filter;
  if (unpacks_weights) {
    AddUnpackWeights(dims, 0, random_() % 2 == 0 ? 1 : config.filters);
    filter = LastTensor();
  } else {
    filter = AddFloats(NextName("builtin") + "/filter", dims);
  }
  const int bias = AddFloats(NextName("builtin") + "/bias", {config.filters});
  return AddBuiltin(builtin::kConv2d, {input, filter, bias}, shape, ConvParams(config));
}

ModelBuilder& ModelBuilder::AddDepthwiseConv(const ConvConfig& config, int multiplier) {
  const std::string name = NextName("builtin");
  const int channels = shape_[3] * multiplier;
  const int filter =
      AddFloats(name + "/filter", {1, config.filter_height, config.filter_width, channels});
  const int bias = AddFloats(name + "/bias", {channels});
  const TfLiteDepthwiseConvParams params = {
      .padding = config.padding == kSame ? kTfLitePaddingSame : kTfLitePaddingValid,
      .stride_width = config.stride_width,
      .stride_height = config.stride_height,
      .depth_multiplier = multiplier,
      .activation = static_cast<TfLiteFusedActivation>(config.activation),
      .dilation_width_factor = 1,
      .dilation_height_factor = 1};
  return AddBuiltin(builtin::kDepthwiseConv2d, {LastTensor(), filter, bias},
                    ConvShape(config, channels), params);
}

// Sets scales that keep products of int8 values and their sums in the range of the results.
void ModelBuilder::SetScales(int tensor, size_t count) {
  GraphTensor& weights = graph_.tensors[static_cast<size_t>(tensor)];
  weights.is_quantized = true;
  weights.scales.clear();
  for (size_t i = 0; i < count; ++i) {
    weights.scales.push_back(static_cast<float>(random_() % 64 + 1) / 4096);
  }
  weights.zero_points.assign(count, 0);
  weights.quantized_dimension = 0;
}

int ModelBuilder::AddInt8Bias(int channels) {
  std::vector<int32_t> values(static_cast<size_t>(channels));
  for (int32_t& value : values) value = static_cast<int32_t>(random_() % 4097) - 2048;
  return AddConstant(NextName("builtin") + "/bias", kTfLiteInt32, {channels}, ToBytes(values));
}

ModelBuilder& ModelBuilder::AddInt8Conv(const ConvConfig& config, bool has_channel_scales) {
  const std::vector<int> dims = {config.filters, config.filter_height, config.filter_width,
                                 shape_[3]};
  std::vector<int8_t> weights(static_cast<size_t>(dims[0]) * dims[1] * dims[2] * dims[3]);
  for (int8_t& weight : weights)
    weight = static_cast<int8_t>(static_cast<int>(random_() % 255) - 127);
  const int filter =
      AddConstant(NextName("builtin") + "/filter", kTfLiteInt8, dims, ToBytes(weights));
  SetScales(filter, has_channel_scales ? static_cast<size_t>(config.filters) : 1);
  const std::vector<int> inputs = {LastTensor(), filter, AddInt8Bias(config.filters)};
  return AddBuiltin(builtin::kConv2d, inputs, ConvShape(config, config.filters), ConvParams(config),
                    kTfLiteInt8);
}

ModelBuilder& ModelBuilder::AddSignedDense(int units, int depth, TfLiteFusedActivation activation,
                                           bool keeps_dims) {
  const int input = LastTensor();
  const TfLiteType type = graph_.tensors[static_cast<size_t>(input)].type;
  std::vector<int> shape = shape_;
  if (!keeps_dims) {
    int elements = 1;
    for (int size : shape) elements *= size;
    shape = {elements / depth, units};
  }
  shape.back() = units;
  AddUnpackWeights({units, depth}, 0, random_() % 2 == 0 ? 1 : units, type);
  const int weights = LastTensor();
  if (type == kTfLiteInt8) SetScales(weights, 1);
  shape_ = {units};
  const int bias = type == kTfLiteInt8 ? AddInt8Bias(units) : AddChannelConstant();
  const TfLiteFullyConnectedParams params = {
      .activation = activation,
      .weights_format = kTfLiteFullyConnectedWeightsFormatDefault,
      .keep_num_dims = keeps_dims};
  return AddBuiltin(builtin::kFullyConnected, {input, weights, bias}, shape, params, type);
}

}  // namespace larq_engine::testing
