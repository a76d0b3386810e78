// Makes the output of a binary convolution on the device, by kernels/output_transform.h and
// kernels/zero_padding.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_OUTPUT_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_OUTPUT_H_

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/divide.h"
#include "larq_engine/kernels/cuda/pixel_steps.h"
#include "larq_engine/kernels/cuda/sum_steps.h"

namespace larq_engine::cuda {

// The taps of an axis that lie inside the image: [first, last).
struct InsideTaps {
  int first;
  int last;
};

LE_DEVICE InsideTaps FindInsideTaps(int start, int in, int taps, const Divisor& dilation) {
  int first = start >= 0 ? 0 : -start;
  int last = start >= in ? 0 : in - start;
  first = Divide(first + dilation.value - 1, dilation).quotient;
  last = Divide(last + dilation.value - 1, dilation).quotient;
  return {first, last < taps ? last : taps};
}

// An output pixel's taps inside the image, by which its accumulators are corrected.
struct OutputPixel {
  InsideTaps rows;
  InsideTaps cols;
  bool is_inner;  // no tap is outside, or those outside count +1
};

// Finds the taps of output pixel `index`. Index has 32 bits where these are enough.
template <class Index>
LE_DEVICE OutputPixel MakeOutputPixel(const Bconv2dArgs& a, Index index) {
  OutputPixel pixel{{0, a.filter_height}, {0, a.filter_width}, true};
  if (a.corner_ones == nullptr) return pixel;
  const auto line = Divide(index, a.divisors.out_width);
  const int x = line.rest;
  const int y = Divide(line.quotient, a.divisors.out_height).rest;
  pixel.rows = FindInsideTaps(y * a.stride_height - a.pad_top, a.in_height, a.filter_height,
                              a.divisors.dilation_height);
  pixel.cols = FindInsideTaps(x * a.stride_width - a.pad_left, a.in_width, a.filter_width,
                              a.divisors.dilation_width);
  pixel.is_inner = pixel.rows.first == 0 && pixel.rows.last == a.filter_height &&
                   pixel.cols.first == 0 && pixel.cols.last == a.filter_width;
  if (pixel.rows.first >= pixel.rows.last || pixel.cols.first >= pixel.cols.last) {
    pixel.rows = pixel.cols = {0, 0};
  }
  return pixel;
}

// Returns zero_dot - 2 * excess. The result fits into 32 bits; 2 * excess may not, so the
// arithmetic is unsigned, where wrapping is defined.
LE_DEVICE int32_t Dot(int32_t zero_dot, int32_t excess) {
  return static_cast<int32_t>(static_cast<uint32_t>(zero_dot) - 2u * static_cast<uint32_t>(excess));
}

LE_DEVICE int32_t Depth(const Bconv2dArgs& a) {
  return a.filter_height * a.filter_width * a.tap_dot;
}

// Returns the number to subtract from a channel's dot product because taps outside do not count +1.
LE_DEVICE int32_t OnesOfTapsOutside(const Bconv2dArgs& a, const OutputPixel& pixel, int channel) {
  const auto corner = [&](int y, int x) {
    return a.corner_ones[(y * (a.filter_width + 1) + x) * a.out_channels + channel];
  };
  const int32_t ones_outside =
      corner(a.filter_height, a.filter_width) - corner(pixel.rows.last, pixel.cols.last) +
      corner(pixel.rows.first, pixel.cols.last) + corner(pixel.rows.last, pixel.cols.first) -
      corner(pixel.rows.first, pixel.cols.first);
  const int depth_inside =
      (pixel.rows.last - pixel.rows.first) * (pixel.cols.last - pixel.cols.first) * a.tap_dot;
  // Counted as +1, the taps outside contribute depth - depth_inside - 2 * ones_outside to the dot
  // product. This is subtracted once if they count 0, and twice if they count -1.
  return (Depth(a) - depth_inside - 2 * ones_outside) * (1 - a.pad_value);
}

// Returns the float output of a dot product.
LE_DEVICE float ToFloat(const Bconv2dOutput& output, int32_t dot, float multiplier, float bias) {
  dot = dot < output.dot_min ? output.dot_min : dot;
  dot = dot > output.dot_max ? output.dot_max : dot;
  return static_cast<float>(dot) * multiplier + bias;
}

// Rounds to the nearest integer, halves away from zero; see Int8Ends in kernels/pixel_ops_loops.h.
LE_DEVICE int8_t RoundToInt8(float y, int32_t zero_point) {
  const float lowest = static_cast<float>(-128 - zero_point);
  const float highest = static_cast<float>(127 - zero_point);
  y = y > lowest ? y : lowest;
  y = y < highest ? y : highest;
  const float half = y < 0 ? -0x1.fffffep-2f : 0x1.fffffep-2f;
  return static_cast<int8_t>(static_cast<int32_t>(y + half) + zero_point);
}

// Returns the tensor that the bits are written to, or null if there is none.
LE_DEVICE uint32_t* OutputBits(const Bconv2dArgs& a) {
  return a.output.kind == Bconv2dOutput::kBits ? a.output.bits : a.output.after.bits;
}

// Returns the number of bit planes of the values in OutputBits.
LE_DEVICE int OutputPlanes(const Bconv2dArgs& a) {
  return a.output.kind == Bconv2dOutput::kBits ? 1 : a.output.after.planes;
}

// Finds the bits of the values that the steps leave; bit j belongs to plane j. Does nothing if the
// output has no bits.
template <int kRows>
LE_DEVICE void FindBits(const Bconv2dOutput& output, const float (&y)[kRows], int channel,
                        int channels, uint32_t (&bits)[kRows]) {
  if (output.after.bits == nullptr) return;
  if (output.epilogue == Bconv2dOutput::kAny) {
    FindMinusBits(output.after, y, channel, channels, bits);
    return;
  }
  const bool has_limits = output.after.limits != nullptr;
  const float limit = has_limits ? output.after.limits[channel] : 0;
  const uint32_t sign = has_limits ? output.after.signs[channel] : 0;
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    bits[i] = (has_limits ? IsSmaller(y[i], sign, limit) : IsNegative(y[i])) ? 1 : 0;
  }
}

// The inputs of FinishRows for a channel, and its rows' residual, loaded at once.
template <int kRows>
struct RowInputs {
  int32_t integer;  // excess_limit where the epilogue is kThreshold, else zero_dot
  float multiplier;
  float bias;
  typename PixelColumn<kRows>::Tensor residual;
};

template <int kRows, class Index>
LE_DEVICE RowInputs<kRows> LoadRowInputs(const Bconv2dArgs& a, Index pixel, int rows, int channel) {
  const Bconv2dOutput& output = a.output;
  RowInputs<kRows> inputs = {};
  const bool has_limits = output.epilogue == Bconv2dOutput::kThreshold;
  inputs.integer = (has_limits ? output.excess_limit : output.zero_dot)[channel];
  if (output.kind == Bconv2dOutput::kBits) return inputs;
  inputs.multiplier = output.multiplier[channel];
  inputs.bias = output.bias[channel];
  const bool has_residual =
      output.epilogue == Bconv2dOutput::kSum && output.sum.residual.values != nullptr;
  if (!has_residual) return inputs;
  float none[kRows];
  const int64_t at = static_cast<int64_t>(pixel) * a.out_channels + channel;
  const PixelColumn<kRows> column{none, rows, at, a.out_channels, channel};
  inputs.residual = column.Load(output.sum.residual.values);
  return inputs;
}

// Makes the output from `excess` (see Bconv2dOutput), for one channel of up to kRows consecutive
// pixels, of which there are `rows`. Taps outside have bits of 0. Everything but bits is written to
// memory; the caller gets these in `bits`, where bit j belongs to plane j. Unless kMayBeOutside,
// all taps are inside the image.
template <bool kMayBeOutside = true, int kRows, class Index>
LE_DEVICE void FinishRows(const Bconv2dArgs& a, Index pixel, int rows, int channel,
                          const RowInputs<kRows>& inputs, const int32_t (&excess)[kRows],
                          uint32_t (&bits)[kRows]) {
  const Bconv2dOutput& output = a.output;
  if (output.epilogue == Bconv2dOutput::kThreshold) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) bits[i] = excess[i] > inputs.integer ? 1 : 0;
    return;
  }
  int32_t dots[kRows];
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    bits[i] = 0;
    dots[i] = Dot(inputs.integer, excess[i]);
    if constexpr (kMayBeOutside) {
      if (a.corner_ones == nullptr || i >= rows) continue;
      const OutputPixel place = MakeOutputPixel(a, pixel + i);
      if (!place.is_inner) dots[i] -= OnesOfTapsOutside(a, place, channel);
    }
  }
  if (output.kind == Bconv2dOutput::kBits) {
    const int32_t limit = output.dot_limit[channel];
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) bits[i] = dots[i] < limit ? 1 : 0;
    return;
  }
  float y[kRows];
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    y[i] = ToFloat(output, dots[i], inputs.multiplier, inputs.bias);
  }
  const int64_t at = static_cast<int64_t>(pixel) * a.out_channels + channel;
  if (output.kind == Bconv2dOutput::kInt8) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (i >= rows) break;
      output.int8[at + static_cast<int64_t>(i) * a.out_channels] =
          RoundToInt8(y[i], output.zero_point);
    }
    return;
  }
  const PixelColumn<kRows> column{y, rows, at, a.out_channels, channel};
  if (output.epilogue == Bconv2dOutput::kAny) {
    RunSteps(output.after, column);
  } else {
    RunSum(output.sum, column, inputs.residual);
  }
  FindBits(output, y, channel, a.out_channels, bits);
}

template <bool kMayBeOutside = true, int kRows, class Index>
LE_DEVICE void FinishRows(const Bconv2dArgs& a, Index pixel, int rows, int channel,
                          const int32_t (&excess)[kRows], uint32_t (&bits)[kRows]) {
  FinishRows<kMayBeOutside>(a, pixel, rows, channel, LoadRowInputs<kRows>(a, pixel, rows, channel),
                            excess, bits);
}

// Makes the output in kernels whose lanes each have one of the pixel's channels from 32 * word on.
// All lanes of the warp must call it. `inside` tells whether the lane's channel exists.
template <bool kMayBeOutside = true, int kRows, class Index>
LE_DEVICE void FinishWords(const Bconv2dArgs& a, Index pixel, int rows, int word, int lane,
                           bool inside, const int32_t (&excess)[kRows]) {
  uint32_t bits[kRows] = {};
  if (inside) FinishRows<kMayBeOutside>(a, pixel, rows, word * kWarp + lane, excess, bits);
  if (OutputBits(a) == nullptr) return;
  const int words = (a.out_channels + kWarp - 1) / kWarp;
  const int planes = OutputPlanes(a);
  LE_NO_UNROLL
  for (int plane = 0; plane < planes; ++plane) {
    // Lane i writes the word of pixel i, so that one store writes them all.
    uint32_t own = 0;
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const uint32_t ballot = __ballot_sync(~0u, bits[i] >> plane & 1u);
      if (lane == i) own = ballot;
    }
    const int64_t at = (static_cast<int64_t>(pixel) + lane) * planes + plane;
    if (lane < rows) OutputBits(a)[at * words + word] = own;
  }
}

// Stores half-word number `at` of `words`, where the low half of a word comes first.
LE_DEVICE void StoreHalfWord(uint32_t* words, int64_t at, uint16_t value) {
  using HalfWord __attribute__((may_alias)) = uint16_t;
  reinterpret_cast<HalfWord*>(words)[at] = value;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_OUTPUT_H_
