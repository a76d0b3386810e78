// A transposed convolution of floats, computed as products of floats. The pixels of an output line
// whose distance is the stride are reached by the same taps. So they are the pixels of a product.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_TRANSPOSED_CONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_TRANSPOSED_CONV2D_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/transposed_conv2d_spec.h"
#include "larq_engine/kernels/floats/table.h"

namespace larq_engine {

class TransposedConv2d {
 public:
  // filter is [out_channels][filter_height][filter_width][in_channels]; bias is [out_channels]. The
  // object keeps no pointer to them.
  TransposedConv2d(const TransposedConv2dSpec& spec, const float* filter, const float* bias,
                   FloatRange range, const FloatRow& row);

  const char* kernel() const { return row_.name; }
  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes lines [first, last) of the output images. `input` is the first image, `output` starts
  // at line `first`.
  void Run(const float* input, int64_t first, int64_t last, std::byte* scratch,
           float* output) const;

 private:
  // The taps of an axis that reach a pixel: every stride-th one, beginning with `first`, at
  // positions that count down from `position`.
  struct Taps {
    int64_t first;
    int64_t count;
    int64_t position;
  };
  static Taps TapsAt(const WindowAxis& axis, int64_t pixel);

  void PackTaps(const float* filter, size_t first_y, size_t first_x);
  void RunPixels(const float* input, int64_t image, const Taps& ys, int64_t x, ptrdiff_t* runs,
                 float* line) const;

  TransposedConv2dSpec spec_;
  FloatRow row_;
  FloatRange range_;
  WindowAxes window_;
  std::vector<float> padding_;  // a pixel of zeros
  // The right side for each first tap of both axes, and where it begins.
  AlignedBuffer<float> filters_;
  size_t packed_ = 0;
  std::vector<size_t> begins_;
  AlignedBuffer<float> bias_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_TRANSPOSED_CONV2D_H_
