#include "larq_engine/kernels/layers/depthwise_int8_conv2d.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {
namespace {

// Pixels of a line whose sums are rounded in one go.
constexpr int64_t kPixelsTogether = 8;  // guess

std::vector<float> Repeated(const std::vector<float>& values, int64_t times) {
  std::vector<float> repeated;
  for (int64_t i = 0; i < times; ++i) repeated.insert(repeated.end(), values.begin(), values.end());
  return repeated;
}

// Lines and columns of the windows that PixelOps::sum_int8_windows computes.
constexpr int64_t kWindow = 3;

bool IsThreeByThree(const Window2d& window) {
  return window.height.taps == kWindow && window.width.taps == kWindow &&
         window.width.dilation == 1;
}

}  // namespace

DepthwiseInt8Conv2d::DepthwiseInt8Conv2d(const Int8Conv2dSpec& spec, std::vector<int8_t> filter,
                                         const Int8Output& output, const PixelOps& ops)
    : spec_(spec),
      filter_(std::move(filter)),
      bias_(output.bias),
      multiplier_(Repeated(output.multiplier, kPixelsTogether)),
      pairs_fit_(std::find(filter_.begin(), filter_.end(), std::numeric_limits<int8_t>::min()) ==
                 filter_.end()),
      has_windows_(ops.sum_int8_windows != nullptr && IsThreeByThree(spec.window)),
      output_(output),
      ops_(ops) {
  for (size_t i = 0; i < filter_.size(); ++i) {
    int32_t& bias = bias_[i % channels()];
    const auto product = static_cast<uint32_t>(spec_.zero_point * filter_[i]);
    bias = static_cast<int32_t>(static_cast<uint32_t>(bias) - product);  // wraps, as the host's
  }
}

void DepthwiseInt8Conv2d::Resize(int64_t in_height, int64_t in_width) {
  grid_ = OutputGrid(spec_.window.Over(in_height, in_width));
  const WindowAxis& width = grid_.width();
  // Windows of so many pixels are in a line of the image.
  together_ =
      std::clamp<int64_t>((width.in - width.extent()) / width.stride + 1, 1, kPixelsTogether);
  const int64_t last_taps = has_windows_ ? kWindow : 1;
  const auto columns = static_cast<size_t>((together_ - 1) * width.stride + last_taps);
  outside_.assign(columns * channels(), static_cast<int8_t>(spec_.zero_point));
}

size_t DepthwiseInt8Conv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  parts.Take<int32_t>(static_cast<size_t>(together_), channels());
  parts.Take<const int8_t*>(2, Taps());
  return parts.bytes();
}

// Finds the pixel of each tap; taps outside the image are 0, for which the zero point stands.
void DepthwiseInt8Conv2d::FindTaps(const int8_t* input, const OutputGrid::Position& position,
                                   const int8_t** taps) const {
  std::fill_n(taps, Taps(), outside_.data());
  grid_.ForInsideTaps(
      position, [&](int64_t tap, int64_t pixel) { taps[tap] = input + pixel * spec_.in_channels; });
}

// Adds up the taps of pixels of a line, of which `taps` are those of the first one.
void DepthwiseInt8Conv2d::AddTaps(const int8_t** taps, const int8_t* const* weights, int64_t pixels,
                                  int32_t* sums) const {
  const int64_t step = grid_.width().stride * spec_.in_channels;
  for (int64_t pixel = 0; pixel < pixels; ++pixel, sums += channels()) {
    std::copy(bias_.begin(), bias_.end(), sums);
    ops_.add_int8_products(taps, weights, Taps(), pairs_fit_, channels(), sums);
    if (pixel + 1 < pixels) {
      std::for_each_n(taps, Taps(), [&](const int8_t*& tap) { tap += step; });
    }
  }
}

void DepthwiseInt8Conv2d::Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch,
                              int8_t* output) const {
  if (first == last) return;
  ScratchParts parts(scratch);
  auto* const sums = parts.Take<int32_t>(static_cast<size_t>(together_), channels());
  const auto** const taps = parts.Take<const int8_t*>(2, Taps());
  const int8_t** const weights = taps + Taps();
  for (size_t t = 0; t < Taps(); ++t) weights[t] = filter_.data() + t * channels();
  OutputGrid::Position position = grid_.Locate(first);
  for (int64_t i = first; i < last;) {
    const int64_t alike = grid_.PixelsAlike(position, std::min(together_, last - i));
    const bool are_inner = grid_.AreInnerInLine(position, static_cast<size_t>(alike));
    const int64_t pixels = are_inner ? alike : 1;
    FindTaps(input, position, taps);
    if (has_windows_ && are_inner) {
      const std::array lines = {taps[0], taps[kWindow], taps[2 * kWindow]};
      ops_.sum_int8_windows(lines.data(), filter_.data(), bias_.data(), static_cast<size_t>(pixels),
                            static_cast<size_t>(grid_.width().stride), channels(), sums);
    } else {
      AddTaps(taps, weights, pixels, sums);
    }
    const size_t values = static_cast<size_t>(pixels) * channels();
    ops_.round_sums(sums, multiplier_.data(), values, output_.range, output_.zero_point, output);
    output += values;
    i += pixels;
    grid_.Advance(position, pixels);
  }
}

}  // namespace larq_engine
