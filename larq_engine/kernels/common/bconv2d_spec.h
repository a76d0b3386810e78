// Describes a binary convolution, independent of how it is computed.
#ifndef LARQ_ENGINE_KERNELS_COMMON_BCONV2D_SPEC_H_
#define LARQ_ENGINE_KERNELS_COMMON_BCONV2D_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

// The value that the pixels around the image count as.
enum class PadValue : int8_t { kMinusOne = -1, kZero = 0, kOne = 1 };

// The largest possible dot product: 2 * acc and the sum of a depth of +1 must fit 32 bits.
inline constexpr int64_t kMaxDot = int64_t{1} << 30;

// Values and weights of more than one bit are sums of planes of +-1 values. Plane j counts 2^j, so
// the sums are odd whole numbers up to 2^bits - 1.
inline constexpr int64_t kMaxBits = 8;
static constexpr int64_t LargestOf(int64_t bits) { return (int64_t{1} << bits) - 1; }

// The layer as the file describes it. Every size is at least 1, bits are at most kMaxBits, and
// max_dot() is at most kMaxDot. `groups` divides in_channels and out_channels, and each group has a
// multiple of 32 input channels if groups > 1.
struct Bconv2dSpec {
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  Window2d window = {};
  PadValue pad_value = PadValue::kOne;  // in every plane
  int64_t bits_in = 1;
  int64_t bits_weights = 1;

  int64_t group_in_channels() const { return in_channels / groups; }
  int64_t group_out_channels() const { return out_channels / groups; }
  size_t tap_words() const { return WordsFor(static_cast<size_t>(group_in_channels())); }
  // A pixel has its planes one after the other, and so has each tap of a filter.
  size_t plane_words() const { return static_cast<size_t>(groups) * tap_words(); }
  size_t pixel_words() const { return static_cast<size_t>(bits_in) * plane_words(); }
  // Returns k_bits of one output value.
  int64_t depth() const { return window.taps() * group_in_channels(); }
  int64_t max_product() const { return LargestOf(bits_in) * LargestOf(bits_weights); }
  int64_t max_dot() const { return depth() * max_product(); }
  bool has_planes() const { return bits_in > 1 || bits_weights > 1; }
  // Tells whether the taps of a filter's line are contiguous in the image.
  bool lines_are_runs() const { return groups == 1 && bits_in == 1 && window.width.dilation == 1; }
  bool IsPaddedWith(PadValue value) const { return pad_value == value && window.IsPadded(); }
};

// Returns the same layer with height and width exchanged.
static inline Bconv2dSpec Transposed(const Bconv2dSpec& spec) {
  Bconv2dSpec transposed = spec;
  std::swap(transposed.window.height, transposed.window.width);
  return transposed;
}

// Tells whether the layer's images, of this width, and its filters are both columns. In memory
// these are lines, whose taps are contiguous (lines_are_runs), so Transposed computes the same
// result sooner: 80x1 taps of one channel with stride 4 take half the time (choice_bench).
static inline bool IsColumn(const Bconv2dSpec& spec, int64_t in_width) {
  const auto& [height, width] = spec.window;
  return in_width == 1 && width.taps == 1 && height.taps > 1 &&
         (width.padding.same || width.padding.IsValid());
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_BCONV2D_SPEC_H_
