// A convolution of int8 values that neither Int8Conv2d nor DepthwiseInt8Conv2d takes: dilated, in
// groups, or with weights of -128. Plain loops compute it, because few layers of binary networks
// are of this kind.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_PLAIN_INT8_CONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_PLAIN_INT8_CONV2D_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/int8_conv2d_spec.h"
#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class PlainInt8Conv2d {
 public:
  // `filter` is [filter_height][filter_width][channels of a group of the input][out_channels].
  PlainInt8Conv2d(const Int8Conv2dSpec& spec, std::vector<int8_t> filter, const Int8Output& output,
                  const PixelOps& ops);

  // Sets the size of the input image; must be called before the first Run.
  void Resize(int64_t in_height, int64_t in_width);

  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes output pixels [first, last). `input` is the image, `output` starts at pixel `first`.
  void Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch,
           int8_t* output) const;

 private:
  void AddTap(const int8_t* pixel, const int8_t* weights, uint32_t* sums) const;

  Int8Conv2dSpec spec_;
  std::vector<int8_t> filter_;
  const Int8Output& output_;
  const PixelOps& ops_;
  OutputGrid grid_;
};

// Returns the weights of [out_channels][filter_height][filter_width][channels of a group] in the
// order that PlainInt8Conv2d reads.
std::vector<int8_t> TapsFirst(const Int8Conv2dSpec& spec, const int8_t* filter);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_PLAIN_INT8_CONV2D_H_
