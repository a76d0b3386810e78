#include "larq_engine/kernels/layers/transposed_conv2d.h"

#include <algorithm>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {
namespace {

size_t Columns(const TransposedConv2dSpec& spec) {
  return RoundUp(static_cast<size_t>(spec.out_channels), kFloatLanes);
}

// Returns how many taps may be the first one that reaches a pixel.
int64_t FirstTaps(const Window1d& axis) { return std::min(axis.stride, axis.taps); }

}  // namespace

TransposedConv2d::TransposedConv2d(const TransposedConv2dSpec& spec, const float* filter,
                                   const float* bias, FloatRange range, const FloatRow& row)
    : spec_(spec),
      row_(row),
      range_(range),
      window_(spec.Over()),
      padding_(static_cast<size_t>(spec.in_channels)),
      filters_(MemoryProduct(Columns(spec), static_cast<size_t>(spec.depth()))),
      bias_(Columns(spec)) {
  std::fill_n(bias_.data(), bias_.size(), 0.0f);
  std::copy_n(bias, spec.out_channels, bias_.data());
  for (int64_t y = 0; y < FirstTaps(window_.height); ++y) {
    for (int64_t x = 0; x < FirstTaps(window_.width); ++x) {
      begins_.push_back(packed_);
      PackTaps(filter, static_cast<size_t>(y), static_cast<size_t>(x));
    }
  }
}

// Appends the taps that follow these first ones, as clause RightSide of float_product.h demands.
void TransposedConv2d::PackTaps(const float* filter, size_t first_y, size_t first_x) {
  const auto height = static_cast<size_t>(window_.height.taps);
  const auto width = static_cast<size_t>(window_.width.taps);
  const auto step_y = static_cast<size_t>(window_.height.stride);
  const auto step_x = static_cast<size_t>(window_.width.stride);
  const auto in_channels = static_cast<size_t>(spec_.in_channels);
  const auto out_channels = static_cast<size_t>(spec_.out_channels);
  const auto depth = static_cast<size_t>(spec_.depth());
  const size_t columns = Columns(spec_);
  for (size_t first = 0; first < columns; first += static_cast<size_t>(row_.nr)) {
    const size_t last = std::min(first + static_cast<size_t>(row_.nr), columns);
    for (size_t y = first_y; y < height; y += step_y) {
      for (size_t x = first_x; x < width; x += step_x) {
        for (size_t i = 0; i < in_channels; ++i) {
          const float* weight = filter + (y * width + x) * in_channels + i;
          for (size_t c = first; c < last; ++c) {
            filters_.data()[packed_++] = c < out_channels ? weight[c * depth] : 0.0f;
          }
        }
      }
    }
  }
}

size_t TransposedConv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  parts.Take<ptrdiff_t>(kFloatPixels, static_cast<size_t>(spec_.window.taps()));
  return parts.bytes();
}

TransposedConv2d::Taps TransposedConv2d::TapsAt(const WindowAxis& axis, int64_t pixel) {
  const int64_t place = pixel + axis.pad_before;
  const int64_t first = place % axis.stride;
  return {.first = first,
          .count = first < axis.taps ? (axis.taps - first - 1) / axis.stride + 1 : 0,
          .position = place / axis.stride};
}

void TransposedConv2d::Run(const float* input, int64_t first, int64_t last, std::byte* scratch,
                           float* output) const {
  ScratchParts parts(scratch);
  auto* const runs = parts.Take<ptrdiff_t>(kFloatPixels, static_cast<size_t>(spec_.window.taps()));
  for (int64_t line = first; line < last; ++line) {
    const Taps ys = TapsAt(window_.height, line % spec_.out_height);
    const int64_t pixels = std::min(window_.width.stride, spec_.out_width);
    for (int64_t x = 0; x < pixels; ++x) {
      RunPixels(input, line / spec_.out_height, ys, x, runs, output);
    }
    output += spec_.out_width * spec_.out_channels;
  }
}

// Computes every stride-th pixel of a line, beginning with pixel `x`.
void TransposedConv2d::RunPixels(const float* input, int64_t image, const Taps& ys, int64_t x,
                                 ptrdiff_t* runs, float* line) const {
  const WindowAxis& height = window_.height;
  const WindowAxis& width = window_.width;
  const Taps xs = TapsAt(width, x);
  const ptrdiff_t padding = LhsOffset(reinterpret_cast<const uint32_t*>(input),
                                      reinterpret_cast<const uint32_t*>(padding_.data()));
  const bool has_taps = ys.count > 0 && xs.count > 0;
  const size_t begin =
      has_taps ? begins_[static_cast<size_t>(ys.first * FirstTaps(width) + xs.first)] : 0;
  FloatArgs args{};
  args.n = static_cast<size_t>(spec_.out_channels);
  args.segments = static_cast<size_t>(ys.count * xs.count);
  args.segment_words = static_cast<size_t>(spec_.in_channels);
  args.lhs_base = input;
  args.lhs = runs;
  args.rhs = filters_.data() + begin;
  args.bias = bias_.data();
  args.range = range_;
  args.out_stride = static_cast<size_t>(width.stride) * args.n;
  const int64_t pixels = (spec_.out_width - x - 1) / width.stride + 1;
  for (int64_t done = 0; done < pixels; done += static_cast<int64_t>(args.m)) {
    args.m = static_cast<size_t>(std::min(pixels - done, static_cast<int64_t>(kFloatPixels)));
    args.out = line + (x + done * width.stride) * spec_.out_channels;
    if (!has_taps) {
      for (size_t i = 0; i < args.m; ++i) {
        for (size_t c = 0; c < args.n; ++c) {
          args.out[i * args.out_stride + c] = Clamp(bias_.data()[c], range_);
        }
      }
      continue;
    }
    ptrdiff_t* run = runs;
    for (int64_t ty = 0; ty < ys.count; ++ty) {
      const int64_t y = ys.position - ty;
      for (int64_t tx = 0; tx < xs.count; ++tx) {
        for (int64_t i = 0; i < static_cast<int64_t>(kFloatPixels); ++i) {
          const int64_t position = xs.position + done + i - tx;
          const bool is_inside = y >= 0 && y < height.out && position >= 0 &&
                                 position < width.out && i < static_cast<int64_t>(args.m);
          const int64_t pixel = (image * height.out + y) * width.out + position;
          *run++ = is_inside ? pixel * spec_.in_channels : padding;
        }
      }
    }
    row_.of_pixels(args);
  }
}

}  // namespace larq_engine
