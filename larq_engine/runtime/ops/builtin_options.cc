#include "larq_engine/runtime/ops/builtin_options.h"

#include "larq_engine/model_file/builtin.h"

namespace larq_engine {
namespace {

// Numbers of the file's schema.
enum FilePadding { kSame = 0, kValid = 1 };
enum FileActivation { kLastActivation = 3 };  // those up to it have the numbers of Activation
enum FileWeightsFormat { kUsualWeights = 0 };

std::optional<Activation> ReadActivation(const FileOptions& file) {
  if (file.activation < 0 || file.activation > kLastActivation) return std::nullopt;
  return static_cast<Activation>(file.activation);
}

std::optional<Window2d> ReadWindow(const FileOptions& file) {
  if (file.padding != kSame && file.padding != kValid) return std::nullopt;
  const AxisPadding padding{.same = file.padding == kSame};
  return Window2d{.height = {.stride = file.stride_height, .padding = padding},
                  .width = {.stride = file.stride_width, .padding = padding}};
}

BuiltinOptions ReadPool(const FileOptions& file) {
  BuiltinOptions options{.activation = ReadActivation(file), .window = ReadWindow(file)};
  if (options.window) {
    options.window->height.taps = file.filter_height;
    options.window->width.taps = file.filter_width;
  }
  return options;
}

BuiltinOptions ReadConv(const FileOptions& file) {
  BuiltinOptions options{.activation = ReadActivation(file)};
  const std::optional<Window2d> window = ReadWindow(file);
  if (!window || file.dilation_height < 1 || file.dilation_width < 1) return options;
  options.dilated_window = window;
  options.dilated_window->height.dilation = file.dilation_height;
  options.dilated_window->width.dilation = file.dilation_width;
  if (!options.dilated_window->IsDilated()) options.window = window;
  return options;
}

BuiltinOptions ReadDepthwiseConv(const FileOptions& file) {
  BuiltinOptions options = ReadConv(file);
  options.depth_multiplier = file.depth_multiplier;
  return options;
}

// Weights in an order of their own get no activation, and so stay with a host.
BuiltinOptions ReadDense(const FileOptions& file) {
  return {.activation = file.weights_format == kUsualWeights ? ReadActivation(file) : std::nullopt,
          .keep_dims = file.keep_dims};
}

// Only boxes that keep all dimensions are computed.
BuiltinOptions ReadStridedSlice(const FileOptions& file) {
  if ((file.ellipsis_mask | file.new_axis_mask | file.shrink_axis_mask) != 0 || file.offset) {
    return {};
  }
  return {.strided_slice = StridedSliceMasks{file.begin_mask, file.end_mask}};
}

BuiltinOptions ReadFused(const FileOptions& file) { return {.activation = ReadActivation(file)}; }

BuiltinOptions ReadConcatenation(const FileOptions& file) {
  return {.activation = ReadActivation(file), .axis = file.axis};
}

BuiltinOptions ReadReducer(const FileOptions& file) { return {.keep_dims = file.keep_dims}; }

BuiltinOptions ReadSoftmax(const FileOptions& file) { return {.beta = file.beta}; }

BuiltinOptions ReadLeakyRelu(const FileOptions& file) { return {.alpha = file.alpha}; }

BuiltinOptions ReadGelu(const FileOptions& file) { return {.approximate = file.approximate}; }

// Returns null for an operator without options that count.
BuiltinOptions (*FindReader(int code))(const FileOptions&) {
  switch (code) {
    case builtin::kAdd:
    case builtin::kDiv:
    case builtin::kSub:
    case builtin::kMul:
      return ReadFused;
    case builtin::kAveragePool2d:
    case builtin::kMaxPool2d:
      return ReadPool;
    case builtin::kConcatenation:
      return ReadConcatenation;
    case builtin::kConv2d:
      return ReadConv;
    case builtin::kDepthwiseConv2d:
      return ReadDepthwiseConv;
    case builtin::kFullyConnected:
      return ReadDense;
    case builtin::kGelu:
      return ReadGelu;
    case builtin::kLeakyRelu:
      return ReadLeakyRelu;
    case builtin::kMean:
      return ReadReducer;
    case builtin::kSoftmax:
      return ReadSoftmax;
    case builtin::kStridedSlice:
      return ReadStridedSlice;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<BuiltinOptions> ReadBuiltinOptions(int code, const FileOptions* file) {
  const auto read = FindReader(code);
  if (read == nullptr) return BuiltinOptions{.file = file == nullptr ? FileOptions() : *file};
  if (file == nullptr) return std::nullopt;
  BuiltinOptions options = read(*file);
  options.file = *file;
  return options;
}

}  // namespace larq_engine
