// A convolution of int8 values in which each channel of the output is made of the same one of the
// input.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_DEPTHWISE_INT8_CONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_DEPTHWISE_INT8_CONV2D_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/int8_conv2d_spec.h"
#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class DepthwiseInt8Conv2d {
 public:
  static bool Takes(const Int8Conv2dSpec& spec) {
    return spec.in_channels == spec.groups && spec.out_channels == spec.groups;
  }

  // `filter` is [filter_height][filter_width][channels].
  DepthwiseInt8Conv2d(const Int8Conv2dSpec& spec, std::vector<int8_t> filter,
                      const Int8Output& output, const PixelOps& ops);

  // Sets the size of the input image; must be called before the first Run.
  void Resize(int64_t in_height, int64_t in_width);

  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes output pixels [first, last). `input` is the image, `output` starts at pixel `first`.
  void Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch,
           int8_t* output) const;

 private:
  size_t channels() const { return static_cast<size_t>(spec_.out_channels); }
  size_t Taps() const { return filter_.size() / channels(); }
  void FindTaps(const int8_t* input, const OutputGrid::Position& position,
                const int8_t** taps) const;
  void AddTaps(const int8_t** taps, const int8_t* const* weights, int64_t pixels,
               int32_t* sums) const;

  Int8Conv2dSpec spec_;
  std::vector<int8_t> filter_;
  std::vector<int32_t> bias_;      // minus the products of the zero point and all weights
  std::vector<float> multiplier_;  // repeated for all pixels that are rounded together
  std::vector<int8_t> outside_;    // zero points, as many as the taps of these pixels reach over
  int64_t together_ = 1;           // pixels that are rounded together
  bool pairs_fit_;                 // see PixelOps
  bool has_windows_;               // whether PixelOps::sum_int8_windows computes inner pixels
  const Int8Output& output_;
  const PixelOps& ops_;
  OutputGrid grid_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_DEPTHWISE_INT8_CONV2D_H_
