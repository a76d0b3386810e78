#include "larq_engine/runtime/ops/bconv2d_op.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

constexpr std::string_view kKeys[] = {"channels_in",
                                      "dilation_height_factor",
                                      "dilation_width_factor",
                                      "fused_activation_function",
                                      "pad_values",
                                      "padding",
                                      "stride_height",
                                      "stride_width"};
// A file may give four pads (an extension) instead of "padding". If it gave both, LCE would ignore
// the pads and compute something else; without "padding" it refuses the file.
constexpr std::string_view kKeysWithPads[] = {"channels_in",
                                              "dilation_height_factor",
                                              "dilation_width_factor",
                                              "fused_activation_function",
                                              "pad_bottom",
                                              "pad_left",
                                              "pad_right",
                                              "pad_top",
                                              "pad_values",
                                              "stride_height",
                                              "stride_width"};
// A file gives both keys if its values have more than one bit (an extension).
constexpr std::string_view kKeysOfBits[] = {"bits_in", "bits_weights"};

template <size_t kCount>
constexpr auto WithBits(const std::string_view (&keys)[kCount]) {
  std::array<std::string_view, kCount + std::size(kKeysOfBits)> all;
  std::copy(std::begin(kKeysOfBits), std::end(kKeysOfBits),
            std::copy(std::begin(keys), std::end(keys), all.begin()));
  return all;
}
constexpr auto kKeysWithBits = WithBits(kKeys);
constexpr auto kKeysWithPadsAndBits = WithBits(kKeysWithPads);

// The inputs in the file's order.
enum Input { kImage, kFilter, kMultiplier, kBias, kThreshold, kInputCount };

// Reads a constant with one value for each channel: multiplier, bias or threshold.
template <typename T>
ConstantValues<T> ChannelConstants(const OpInfo& op, Input input, const char* role,
                                   ElementType type, int64_t channels) {
  const TensorInfo& tensor = op.inputs[input];
  CheckType(tensor, role, {type});
  CheckRank(tensor.dims, role, 1);
  if (tensor.dims[0] != channels) {
    throw OpError(std::string(role) + " '" + tensor.name + "': expected " +
                  std::to_string(channels) + " values, one for each output channel, got " +
                  std::to_string(tensor.dims[0]) + "; re-convert the model");
  }
  CheckConstant(tensor, role, sizeof(T));
  return {tensor.constant, tensor.bytes};
}

AxisPadding ReadPadding(const CustomOptions& options, const char* before, const char* after) {
  if (options.Has("padding")) return {.same = options.IsSame()};
  return {.before = options.Get(before, 0, kMaxInt), .after = options.Get(after, 0, kMaxInt)};
}

Activation ReadActivation(const CustomOptions& options) {
  return static_cast<Activation>(options.Get("fused_activation_function", 0, 3));
}

// Derives the number of groups, which the file does not state: the filter has the words of one
// group's channels, for each of its planes.
int64_t ReadGroups(const Bconv2dSpec& spec, int64_t filter_words) {
  const int64_t planes = spec.bits_weights;
  const int64_t image_words = static_cast<int64_t>(WordsFor(static_cast<size_t>(spec.in_channels)));
  const int64_t groups = image_words * planes / filter_words;
  const bool fits =
      groups * filter_words == image_words * planes && filter_words % planes == 0 &&
      (groups == 1 || (spec.in_channels % (groups * 32) == 0 && spec.out_channels % groups == 0));
  if (!fits) {
    throw OpError("filter: expected " + std::to_string(image_words * planes) + " words for " +
                  std::to_string(spec.in_channels) + " input channels" +
                  (planes > 1 ? " of " + std::to_string(planes) + " bits" : "") +
                  ", or a divisor of it that makes groups of a multiple of 32 input "
                  "channels which divide the " +
                  std::to_string(spec.out_channels) + " output channels; got " +
                  std::to_string(filter_words) + " words; re-convert the model");
  }
  return groups;
}

void CheckFilterTail(const uint32_t* filter, int64_t taps, int64_t channels) {
  const size_t words = WordsFor(static_cast<size_t>(channels));
  const uint32_t outside = ~TailMask(static_cast<size_t>(channels));
  if (outside == 0) return;
  for (int64_t tap = 0; tap < taps; ++tap) {
    if (filter[static_cast<size_t>(tap + 1) * words - 1] & outside) {
      throw OpError("filter: expected zeros after the " + std::to_string(channels) +
                    " channels of a tap, got ones; the file is corrupted");
    }
  }
}

Bconv2dSpec ReadSpec(const OpInfo& op, const CustomOptions& options) {
  const TensorInfo& filter = op.inputs[kFilter];
  CheckType(filter, "filter", {ElementType::kInt32});
  CheckRank(filter.dims, "filter", 4);
  if (*std::min_element(filter.dims.begin(), filter.dims.end()) < 1) {
    throw OpError("filter: expected [output channels, height, width, words], all at least 1, got " +
                  DimsString(filter.dims) + "; the file is corrupted");
  }
  CheckConstant(filter, "filter", sizeof(uint32_t));
  Bconv2dSpec spec{
      .in_channels = options.Get("channels_in", 1, kMaxInt),
      .out_channels = filter.dims[0],
      .window = {.height = {.taps = filter.dims[1],
                            .stride = options.Get("stride_height", 1, kMaxInt),
                            .dilation = options.Get("dilation_height_factor", 1, kMaxInt),
                            .padding = ReadPadding(options, "pad_top", "pad_bottom")},
                 .width = {.taps = filter.dims[2],
                           .stride = options.Get("stride_width", 1, kMaxInt),
                           .dilation = options.Get("dilation_width_factor", 1, kMaxInt),
                           .padding = ReadPadding(options, "pad_left", "pad_right")}},
      .pad_value = static_cast<PadValue>(options.Get("pad_values", -1, 1))};
  if (options.Has("bits_in")) {
    spec.bits_in = options.Get("bits_in", 1, kMaxBits);
    spec.bits_weights = options.Get("bits_weights", 1, kMaxBits);
  }
  spec.groups = ReadGroups(spec, filter.dims[3]);
  // No product below overflows 64 bits: the file holds taps * words values (CheckConstant), and the
  // number of their bits, even times a small number, fits into 64 bits.
  if (spec.window.taps() > kMaxDot || spec.depth() > kMaxDot || spec.max_dot() > kMaxDot) {
    throw OpError("filter: expected at most " + std::to_string(kMaxDot / spec.max_product()) +
                  " products for one output value, got shape " + DimsString(filter.dims) +
                  "; the file is corrupted");
  }
  return spec;
}

OutputTransform ReadTransform(const OpInfo& op, const CustomOptions& options,
                              const Bconv2dSpec& spec) {
  const int64_t channels = spec.out_channels;
  const size_t count = static_cast<size_t>(channels);
  const Activation activation = ReadActivation(options);
  if (op.output.type == ElementType::kInt32) {
    const auto threshold =
        ChannelConstants<int32_t>(op, kThreshold, "threshold", ElementType::kInt32, channels);
    return MakeBitsTransform(threshold.data(), count, spec.max_dot());
  }
  const auto multiplier =
      ChannelConstants<float>(op, kMultiplier, "multiplier", ElementType::kFloat32, channels);
  const auto bias = ChannelConstants<float>(op, kBias, "bias", ElementType::kFloat32, channels);
  if (op.output.type == ElementType::kFloat32) {
    return MakeFloatTransform(activation, multiplier.data(), bias.data(), count);
  }
  const int32_t zero_point = ZeroPoint(op.output, "output");
  if (zero_point < -128 || zero_point > 127) {
    throw OpError("output '" + op.output.name + "': expected a zero point of -128 to 127, got " +
                  std::to_string(zero_point) + "; the file is corrupted");
  }
  return MakeInt8Transform(activation, multiplier.data(), bias.data(), count,
                           Scale(op.output, "output"), zero_point);
}

void CheckOutput(const Window2d& window, const WindowAxes& axes, const std::vector<int>& dims) {
  const bool fits = window.Fits(dims[1], dims[2]);
  if (fits && axes.height.out <= kMaxInt && axes.width.out <= kMaxInt) return;
  const auto& [height, width] = window;
  const auto pads = [](const AxisPadding& axis) {
    return std::to_string(axis.before) + " + " + std::to_string(axis.after);
  };
  throw OpError("input: expected an image that " +
                std::string(fits ? "is small enough for" : "holds") + " the filter of " +
                std::to_string(height.taps) + " x " + std::to_string(width.taps) + " (dilation " +
                std::to_string(height.dilation) + " x " + std::to_string(width.dilation) +
                ") with " +
                (window.IsPadded() ? "pads of " + pads(height.padding) + " x " + pads(width.padding)
                                   : "VALID padding") +
                ", got shape " + DimsString(dims) +
                (fits ? "; feed smaller images" : "; feed larger images"));
}

}  // namespace

Bconv2dOp Bconv2dOp::Read(const OpInfo& op) {
  CheckInputCount(op, kInputCount);
  CheckType(op.inputs[kImage], "input", {ElementType::kInt32});
  CheckType(op.output, "output", {ElementType::kFloat32, ElementType::kInt8, ElementType::kInt32});
  const CustomOptions options(op.options,
                              {kKeys, kKeysWithPads, kKeysWithBits, kKeysWithPadsAndBits});
  const Bconv2dSpec spec = ReadSpec(op, options);
  Bconv2dOp read{.spec = spec,
                 .transform = ReadTransform(op, options, spec),
                 .filter = {op.inputs[kFilter].constant, op.inputs[kFilter].bytes}};
  CheckFilterTail(read.filter.data(), spec.out_channels * spec.window.taps() * spec.bits_weights,
                  spec.group_in_channels());
  return read;
}

TensorShape Bconv2dOp::Shape(std::span<const TensorShape> inputs) const {
  const TensorShape& input = inputs[0];
  const std::vector<int>& dims = input.dims;
  CheckRank(dims, "input", 4);
  const auto words = static_cast<int64_t>(spec.pixel_words());
  if (dims[3] != words) {
    throw OpError("input: expected " + std::to_string(words) + " words a pixel for " +
                  std::to_string(spec.in_channels) + " channels" +
                  (spec.bits_in > 1 ? " of " + std::to_string(spec.bits_in) + " bits" : "") +
                  ", got shape " + DimsString(dims) + "; re-convert the model");
  }
  CheckBitChannels(input, spec.in_channels, spec.bits_in);
  CountElements(dims, 4);
  const WindowAxes axes = spec.window.Over(dims[1], dims[2]);
  CheckOutput(spec.window, axes, dims);
  const int channels = transform.kind == OutputKind::kBits
                           ? static_cast<int>(WordsFor(static_cast<size_t>(spec.out_channels)))
                           : static_cast<int>(spec.out_channels);
  const std::vector<int> output = {dims[0], static_cast<int>(axes.height.out),
                                   static_cast<int>(axes.width.out), channels};
  CountElements(output, 4);
  return {.dims = output, .channels = spec.out_channels};
}

Bconv2dOp Bconv2dOp::Slice(int64_t first, int64_t count) const {
  assert(spec.groups == 1 && first >= 0 && count >= 1 && first + count <= spec.out_channels);
  assert(transform.kind != OutputKind::kBits || first % kWordBits == 0);
  Bconv2dOp part = *this;
  part.spec.out_channels = count;
  const auto words = spec.tap_words() * static_cast<size_t>(spec.bits_weights);
  part.filter = filter.From(static_cast<size_t>(first * spec.window.taps()) * words);
  const auto cut = [&](auto& values) {
    if (values.empty()) return;
    values = {values.begin() + first, values.begin() + first + count};
  };
  cut(part.transform.multiplier);
  cut(part.transform.bias);
  cut(part.transform.dot_limit);
  return part;
}

int64_t Bconv2dOp::Macs(const TensorShape& output) const {
  return CountProducts(CountElements(output.dims, 3), spec.out_channels * spec.depth());
}

}  // namespace larq_engine
