// What a binary convolution is, apart from how it is computed.
#ifndef LARQ_ENGINE_KERNELS_BCONV2D_SPEC_H_
#define LARQ_ENGINE_KERNELS_BCONV2D_SPEC_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/window.h"

namespace larq_engine {

// What the pixels around the image count as.
enum class PadValue : int8_t { kMinusOne = -1, kZero = 0, kOne = 1 };

// The products of one output value: 2 * acc and the sum of a depth of +1 must fit 32 bits.
inline constexpr int64_t kMaxDepth = int64_t{1} << 30;

// What the file says about a layer; every size is at least 1, depth() at most kMaxDepth, and
// `groups` divides in_channels and out_channels, into multiples of 32 input channels if groups > 1.
struct Bconv2dSpec {
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  int64_t filter_height = 1;
  int64_t filter_width = 1;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  int64_t dilation_height = 1;
  int64_t dilation_width = 1;
  AxisPadding pad_height = {};
  AxisPadding pad_width = {};
  PadValue pad_value = PadValue::kOne;

  int64_t group_in_channels() const { return in_channels / groups; }
  int64_t group_out_channels() const { return out_channels / groups; }
  int64_t taps() const { return filter_height * filter_width; }
  size_t tap_words() const { return WordsFor(static_cast<size_t>(group_in_channels())); }
  size_t pixel_words() const { return static_cast<size_t>(groups) * tap_words(); }
  int64_t depth() const { return taps() * group_in_channels(); }  // k_bits of one output value
  bool IsPaddedWith(PadValue value) const {
    return pad_value == value && !(pad_height.IsValid() && pad_width.IsValid());
  }
  WindowAxis Height(int64_t in_height) const {
    return MakeWindowAxis(in_height, filter_height, stride_height, dilation_height, pad_height);
  }
  WindowAxis Width(int64_t in_width) const {
    return MakeWindowAxis(in_width, filter_width, stride_width, dilation_width, pad_width);
  }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BCONV2D_SPEC_H_
