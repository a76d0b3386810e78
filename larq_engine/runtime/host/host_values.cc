#include "larq_engine/runtime/host/host_values.h"

#include <iterator>

#include "larq_engine/model_file/builtin.h"

namespace larq_engine {
namespace {

// Types by the numbers of the C interface.
constexpr ElementType kElementTypes[] = {
    ElementType::kNone,       ElementType::kFloat32, ElementType::kInt32,    ElementType::kUint8,
    ElementType::kInt64,      ElementType::kString,  ElementType::kBool,     ElementType::kInt16,
    ElementType::kComplex64,  ElementType::kInt8,    ElementType::kFloat16,  ElementType::kFloat64,
    ElementType::kComplex128, ElementType::kUint64,  ElementType::kResource, ElementType::kVariant,
    ElementType::kUint32,     ElementType::kUint16,  ElementType::kInt4,
};

// The interface's numbers are larger by one, because 0 is "unknown". A host may pass on any number
// of a file, so the difference is that of unsigned values, which cannot overflow.
int32_t ReadPadding(TfLitePadding padding) {
  return static_cast<int32_t>(static_cast<uint32_t>(padding) - 1);
}

// Activations have the same numbers in both.
template <typename Params>
FileOptions ReadActivation(const Params& params) {
  return {.activation = static_cast<int32_t>(params.activation)};
}

template <typename Params>
FileOptions ReadStrides(const Params& params) {
  FileOptions options = ReadActivation(params);
  options.padding = ReadPadding(params.padding);
  options.stride_height = params.stride_height;
  options.stride_width = params.stride_width;
  return options;
}

FileOptions Read(const TfLiteAddParams& params) { return ReadActivation(params); }
FileOptions Read(const TfLiteSubParams& params) { return ReadActivation(params); }
FileOptions Read(const TfLiteMulParams& params) { return ReadActivation(params); }

FileOptions Read(const TfLiteConcatenationParams& params) {
  FileOptions options = ReadActivation(params);
  options.axis = params.axis;
  return options;
}

FileOptions Read(const TfLitePoolParams& params) {
  FileOptions options = ReadStrides(params);
  options.filter_height = params.filter_height;
  options.filter_width = params.filter_width;
  return options;
}

template <typename Params>
FileOptions ReadConv(const Params& params) {
  FileOptions options = ReadStrides(params);
  options.dilation_height = params.dilation_height_factor;
  options.dilation_width = params.dilation_width_factor;
  return options;
}

FileOptions Read(const TfLiteConvParams& params) { return ReadConv(params); }

FileOptions Read(const TfLiteDepthwiseConvParams& params) {
  FileOptions options = ReadConv(params);
  options.depth_multiplier = params.depth_multiplier;
  return options;
}

FileOptions Read(const TfLiteFullyConnectedParams& params) {
  FileOptions options = ReadActivation(params);
  options.weights_format = static_cast<int32_t>(params.weights_format);
  options.keep_dims = params.keep_num_dims;
  return options;
}

FileOptions Read(const TfLiteReducerParams& params) { return {.keep_dims = params.keep_dims}; }
FileOptions Read(const TfLiteSoftmaxParams& params) { return {.beta = params.beta}; }

FileOptions Read(const TfLiteStridedSliceParams& params) {
  return {.begin_mask = params.begin_mask,
          .end_mask = params.end_mask,
          .ellipsis_mask = params.ellipsis_mask,
          .new_axis_mask = params.new_axis_mask,
          .shrink_axis_mask = params.shrink_axis_mask,
          .offset = params.offset};
}

template <typename Params>
FileOptions ReadAs(const void* builtin_data) {
  return Read(*static_cast<const Params*>(builtin_data));
}

}  // namespace

ElementType ReadElementType(TfLiteType type) {
  return type < std::size(kElementTypes) ? kElementTypes[type] : ElementType::kNone;
}

std::optional<FileOptions> ReadBuiltinData(int code, const void* builtin_data) {
  if (builtin_data == nullptr) return std::nullopt;
  switch (code) {
    case builtin::kAdd:
      return ReadAs<TfLiteAddParams>(builtin_data);
    case builtin::kSub:
      return ReadAs<TfLiteSubParams>(builtin_data);
    case builtin::kMul:
      return ReadAs<TfLiteMulParams>(builtin_data);
    case builtin::kAveragePool2d:
    case builtin::kMaxPool2d:
      return ReadAs<TfLitePoolParams>(builtin_data);
    case builtin::kConcatenation:
      return ReadAs<TfLiteConcatenationParams>(builtin_data);
    case builtin::kConv2d:
      return ReadAs<TfLiteConvParams>(builtin_data);
    case builtin::kDepthwiseConv2d:
      return ReadAs<TfLiteDepthwiseConvParams>(builtin_data);
    case builtin::kFullyConnected:
      return ReadAs<TfLiteFullyConnectedParams>(builtin_data);
    case builtin::kMean:
      return ReadAs<TfLiteReducerParams>(builtin_data);
    case builtin::kSoftmax:
      return ReadAs<TfLiteSoftmaxParams>(builtin_data);
    case builtin::kStridedSlice:
      return ReadAs<TfLiteStridedSliceParams>(builtin_data);
    default:
      return FileOptions();  // no options of the operator count
  }
}

}  // namespace larq_engine
