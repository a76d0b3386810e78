// LceBconv2d: reads the operator, chooses its kernel row, runs it or the reference.
#include <algorithm>
#include <limits>
#include <optional>

#include "larq_engine/kernels/bconv2d.h"
#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/reference.h"
#include "larq_engine/runtime/constant_values.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

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
// Four pads stand in the place of "padding" (an extension). Beside it LCE would ignore them and
// compute something else; a file without "padding" it refuses.
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
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

// The inputs in the file's order.
enum Input { kImage, kFilter, kMultiplier, kBias, kThreshold, kInputCount };

// One constant a channel: multiplier, bias or threshold.
template <typename T>
ConstantValues<T> ChannelConstants(const OpInfo& op, Input input, const char* role, TfLiteType type,
                                   int64_t channels) {
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

AxisPadding ReadPadding(const Options& options, const char* before, const char* after) {
  if (options.Has("padding")) return {.same = options.IsSame()};
  return {.before = options.Get(before, 0, kMaxInt), .after = options.Get(after, 0, kMaxInt)};
}

Activation ReadActivation(const Options& options) {
  constexpr Activation kInFile[] = {Activation::kNone, Activation::kRelu, Activation::kReluN1To1,
                                    Activation::kRelu6};
  return kInFile[options.Get("fused_activation_function", 0, 3)];
}

// The file does not say how many groups: the filter has the words of one group's channels.
int64_t ReadGroups(const Bconv2dSpec& spec, int64_t filter_words) {
  const int64_t image_words = static_cast<int64_t>(WordsFor(static_cast<size_t>(spec.in_channels)));
  const int64_t groups = image_words / filter_words;
  const bool fits =
      groups * filter_words == image_words &&
      (groups == 1 || (spec.in_channels % (groups * 32) == 0 && spec.out_channels % groups == 0));
  if (!fits) {
    throw OpError("filter: expected " + std::to_string(image_words) + " words for " +
                  std::to_string(spec.in_channels) +
                  " input channels, or a divisor of it that makes groups of a multiple of 32 input "
                  "channels which divide the " +
                  std::to_string(spec.out_channels) + " output channels; got " +
                  std::to_string(filter_words) + " words; re-convert the model");
  }
  return groups;
}

void CheckFilterTail(const uint32_t* filter, int64_t taps, int64_t channels) {
  const size_t words = WordsFor(static_cast<size_t>(channels));
  const uint32_t outside = ~TailMask(static_cast<size_t>(channels));
  for (int64_t tap = 0; tap < taps; ++tap) {
    if (filter[static_cast<size_t>(tap + 1) * words - 1] & outside) {
      throw OpError("filter: expected zeros after the " + std::to_string(channels) +
                    " channels of a tap, got ones; the file is corrupted");
    }
  }
}

Bconv2dSpec ReadSpec(const OpInfo& op, const Options& options) {
  const TensorInfo& filter = op.inputs[kFilter];
  CheckType(filter, "filter", {kTfLiteInt32});
  CheckRank(filter.dims, "filter", 4);
  if (*std::min_element(filter.dims.begin(), filter.dims.end()) < 1) {
    throw OpError("filter: expected [output channels, height, width, words], all at least 1, got " +
                  DimsString(filter.dims) + "; the file is corrupted");
  }
  CheckConstant(filter, "filter", sizeof(uint32_t));
  Bconv2dSpec spec{.in_channels = options.Get("channels_in", 1, kMaxInt),
                   .out_channels = filter.dims[0],
                   .filter_height = filter.dims[1],
                   .filter_width = filter.dims[2],
                   .stride_height = options.Get("stride_height", 1, kMaxInt),
                   .stride_width = options.Get("stride_width", 1, kMaxInt),
                   .dilation_height = options.Get("dilation_height_factor", 1, kMaxInt),
                   .dilation_width = options.Get("dilation_width_factor", 1, kMaxInt),
                   .pad_height = ReadPadding(options, "pad_top", "pad_bottom"),
                   .pad_width = ReadPadding(options, "pad_left", "pad_right"),
                   .pad_value = static_cast<PadValue>(options.Get("pad_values", -1, 1))};
  spec.groups = ReadGroups(spec, filter.dims[3]);
  // taps * words fits 64 bits: CheckConstant found that many bytes. 32 bits a word still do.
  if (spec.taps() > kMaxDepth || spec.depth() > kMaxDepth) {
    throw OpError("filter: expected at most " + std::to_string(kMaxDepth) +
                  " products for one output value, got shape " + DimsString(filter.dims) +
                  "; the file is corrupted");
  }
  return spec;
}

OutputTransform ReadTransform(const OpInfo& op, const Options& options, const Bconv2dSpec& spec) {
  const int64_t channels = spec.out_channels;
  const size_t count = static_cast<size_t>(channels);
  const Activation activation = ReadActivation(options);
  if (op.output.type == kTfLiteInt32) {
    const auto threshold =
        ChannelConstants<int32_t>(op, kThreshold, "threshold", kTfLiteInt32, channels);
    return MakeBitsTransform(threshold.data(), count, spec.depth());
  }
  const auto multiplier =
      ChannelConstants<float>(op, kMultiplier, "multiplier", kTfLiteFloat32, channels);
  const auto bias = ChannelConstants<float>(op, kBias, "bias", kTfLiteFloat32, channels);
  if (op.output.type == kTfLiteFloat32) {
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

class Bconv2dStep : public Step {
 public:
  Bconv2dStep(const OpInfo& op, const Options& options, const StepKernels& kernels)
      : spec_(ReadSpec(op, options)),
        transform_(ReadTransform(op, options, spec_)),
        filter_(op.inputs[kFilter].constant, op.inputs[kFilter].bytes),
        kernels_(kernels) {
    CheckFilterTail(filter_.data(), spec_.out_channels * spec_.taps(), spec_.group_in_channels());
  }

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const TensorShape& input = inputs[0];
    const std::vector<int>& dims = input.dims;
    CheckRank(dims, "input", 4);
    const int64_t words = static_cast<int64_t>(WordsFor(static_cast<size_t>(spec_.in_channels)));
    if (dims[3] != words) {
      throw OpError("input: expected " + std::to_string(words) + " words a pixel for " +
                    std::to_string(spec_.in_channels) + " channels, got shape " + DimsString(dims) +
                    "; re-convert the model");
    }
    CheckBitChannels(input, spec_.in_channels);
    CountElements(dims, 4);
    const WindowAxis rows = spec_.Rows(dims[1]);
    const WindowAxis cols = spec_.Cols(dims[2]);
    CheckOutput(rows, cols, dims);
    const int channels = transform_.kind == OutputKind::kBits
                             ? static_cast<int>(WordsFor(static_cast<size_t>(spec_.out_channels)))
                             : static_cast<int>(spec_.out_channels);
    const std::vector<int> output_dims = {dims[0], static_cast<int>(rows.out),
                                          static_cast<int>(cols.out), channels};
    CountElements(output_dims, 4);
    pixels_ = CountElements(output_dims, 3);
    in_height_ = dims[1];
    in_width_ = dims[2];
    if (kernels_.kernel != kReferenceKernel) ResizeKernel(dims);
    return {.dims = output_dims, .channels = spec_.out_channels};
  }

  int64_t pixels() const override { return pixels_; }
  int64_t channel_blocks() const override { return conv_ ? conv_->channel_blocks() : 1; }
  int64_t kernel_rows() const override { return conv_ ? conv_->row().mr : 1; }
  size_t scratch_bytes() const override { return conv_ ? conv_->scratch_bytes() : 0; }
  int64_t macs() const override {
    int64_t macs = 0;
    const bool overflow =
        __builtin_mul_overflow(pixels_, spec_.out_channels * spec_.depth(), &macs);
    return overflow ? std::numeric_limits<int64_t>::max() : macs;
  }
  std::string kernel() const override {
    return conv_ ? conv_->row().name : std::string(kReferenceKernel);
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* image = static_cast<const uint32_t*>(inputs[0]);
    if (conv_) {
      conv_->Run(image, range.first_pixel, range.last_pixel, range.first_block, range.last_block,
                 scratch, static_cast<std::byte*>(output));
    } else {
      ReferenceBconv2d(spec_, transform_, in_height_, in_width_, image, filter_.data(),
                       range.first_pixel, range.last_pixel, output);
    }
  }

 private:
  void CheckOutput(const WindowAxis& rows, const WindowAxis& cols,
                   const std::vector<int>& dims) const {
    const AxisPadding& height = spec_.pad_height;
    const AxisPadding& width = spec_.pad_width;
    const bool fits = (height.same || rows.out > 0) && (width.same || cols.out > 0);
    if (fits && rows.out <= kMaxInt && cols.out <= kMaxInt) return;
    const auto pads = [](const AxisPadding& axis) {
      return std::to_string(axis.before) + " + " + std::to_string(axis.after);
    };
    throw OpError(
        "input: expected an image that " + std::string(fits ? "is small enough for" : "holds") +
        " the filter of " + std::to_string(spec_.filter_height) + " x " +
        std::to_string(spec_.filter_width) + " (dilation " + std::to_string(spec_.dilation_height) +
        " x " + std::to_string(spec_.dilation_width) + ") with " +
        (height.IsValid() && width.IsValid() ? "VALID padding"
                                             : "pads of " + pads(height) + " x " + pads(width)) +
        ", got shape " + DimsString(dims) +
        (fits ? "; feed smaller images" : "; feed larger images"));
  }

  // Packs the filter the first time.
  void ResizeKernel(const std::vector<int>& dims) {
    if (!conv_) {
      const BgemmChoice choice =
          SelectBgemm(BgemmRows(), DetectCpuFeatures(), ProductShape(spec_), kernels_.kernel);
      if (choice.row == nullptr) throw OpError(choice.error);
      conv_.emplace(spec_, filter_.data(), transform_, *choice.row, kernels_.pixel_ops);
    }
    conv_->Resize(dims[1], dims[2]);
  }

  Bconv2dSpec spec_;
  OutputTransform transform_;
  ConstantValues<uint32_t> filter_;
  StepKernels kernels_;
  std::optional<Bconv2d> conv_;  // none for the reference
  int64_t in_height_ = 0;
  int64_t in_width_ = 0;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeBconv2dStep(const OpInfo& op, const StepKernels& kernels) {
  CheckInputCount(op, kInputCount);
  CheckType(op.inputs[kImage], "input", {kTfLiteInt32});
  CheckType(op.output, "output", {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32});
  return std::make_unique<Bconv2dStep>(op, Options(op.options, {kKeys, kKeysWithPads}), kernels);
}

}  // namespace larq_engine
