// A transposed convolution of int8 values, by plain loops.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_PLAIN_INT8_TRANSPOSED_CONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_PLAIN_INT8_TRANSPOSED_CONV2D_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/kernels/common/transposed_conv2d_spec.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class PlainInt8TransposedConv2d {
 public:
  // `filter` is [out_channels][filter_height][filter_width][in_channels]; the object keeps no
  // pointer to it.
  PlainInt8TransposedConv2d(const TransposedConv2dSpec& spec, const int8_t* filter,
                            int32_t zero_point, const Int8Output& output, const PixelOps& ops);

  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes lines [first, last) of the output images. `input` is the first image, `output` starts
  // at line `first`.
  void Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch,
           int8_t* output) const;

 private:
  void AddTaps(const int8_t* image, int64_t y, int64_t x, uint32_t* sums) const;

  TransposedConv2dSpec spec_;
  WindowAxes window_;
  std::vector<int8_t> filter_;  // [filter_height][filter_width][in_channels][out_channels]
  int32_t zero_point_;
  const Int8Output& output_;
  const PixelOps& ops_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_PLAIN_INT8_TRANSPOSED_CONV2D_H_
