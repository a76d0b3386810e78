#include "larq_engine/runtime/ops/builtin_options.h"

#include "larq_engine/model_file/builtin.h"

namespace larq_engine {
namespace {

// Numbers of the file's schema.
enum FilePadding { kSame = 0, kValid = 1 };
enum FileActivation { kLastActivation = 3 };  // those up to it have the numbers of Activation
enum FileWeightsFormat { kUsualWeights = 0 };

// Weights in an order of their own get no activation, and so stay with a host.
std::optional<Activation> ReadActivation(const FileOptions& file) {
  if (file.weights_format != kUsualWeights) return std::nullopt;
  if (file.activation < 0 || file.activation > kLastActivation) return std::nullopt;
  return static_cast<Activation>(file.activation);
}

Window1d ReadAxis(const FileOptions& file, int taps, int stride, int dilation) {
  return {.taps = taps,
          .stride = stride,
          .dilation = dilation,
          .padding = {.same = file.padding == kSame}};
}

std::optional<Window2d> ReadWindow(const FileOptions& file) {
  if (file.padding != kSame && file.padding != kValid) return std::nullopt;
  if (file.dilation_height < 1 || file.dilation_width < 1) return std::nullopt;
  return Window2d{
      .height = ReadAxis(file, file.filter_height, file.stride_height, file.dilation_height),
      .width = ReadAxis(file, file.filter_width, file.stride_width, file.dilation_width)};
}

// Only boxes that keep all dimensions are computed.
std::optional<StridedSliceMasks> ReadStridedSlice(const FileOptions& file) {
  if ((file.ellipsis_mask | file.new_axis_mask | file.shrink_axis_mask) != 0 || file.offset) {
    return std::nullopt;
  }
  return StridedSliceMasks{file.begin_mask, file.end_mask};
}

bool NeedsOptions(int code) {
  switch (code) {
    case builtin::kAdd:
    case builtin::kAveragePool2d:
    case builtin::kConcatenation:
    case builtin::kConv2d:
    case builtin::kDepthwiseConv2d:
    case builtin::kDiv:
    case builtin::kFullyConnected:
    case builtin::kGelu:
    case builtin::kLeakyRelu:
    case builtin::kMaxPool2d:
    case builtin::kMean:
    case builtin::kMul:
    case builtin::kSoftmax:
    case builtin::kStridedSlice:
    case builtin::kSub:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<BuiltinOptions> ReadBuiltinOptions(int code, const FileOptions* file) {
  if (file == nullptr && NeedsOptions(code)) return std::nullopt;
  const FileOptions options = file == nullptr ? FileOptions() : *file;
  const std::optional<Window2d> window = ReadWindow(options);
  return BuiltinOptions{.file = options,
                        .activation = ReadActivation(options),
                        .window = window && !window->IsDilated() ? window : std::nullopt,
                        .dilated_window = window,
                        .strided_slice = ReadStridedSlice(options)};
}

}  // namespace larq_engine
