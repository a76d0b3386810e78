// A convolution of floats, over all channels or over each channel by itself (depthwise), computed
// as products of floats.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_FLOAT_CONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_FLOAT_CONV2D_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/float_conv2d_spec.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/shared_buffer.h"
#include "larq_engine/kernels/floats/table.h"
#include "larq_engine/kernels/layers/tap_runs.h"

namespace larq_engine {

class FloatConv2d {
 public:
  // filter is [out_channels][filter_height][filter_width][group_in_channels], or, if depthwise,
  // [filter_height][filter_width][channels]; bias is [out_channels]. The object keeps no pointer to
  // them.
  FloatConv2d(const FloatConv2dSpec& spec, const float* filter, const float* bias, FloatRange range,
              const FloatRow& row);

  // Sets the size of the input image; must be called before the first Run.
  void Resize(int64_t in_height, int64_t in_width);

  const char* kernel() const { return row_.name; }
  bool is_pixelwise() const { return spec_.is_pixelwise(); }
  // Returns the number of parts that the channels can be computed in.
  int64_t channel_blocks() const;
  // Returns the number of pixels that Run should be given at least.
  int64_t tile_pixels() const {
    return static_cast<int64_t>((has_large_filters_ ? kManyTiles : 1) * kFloatPixels);
  }
  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes blocks [first_block, last_block) of output pixels [first, last). `input` is the image,
  // or, for a pixelwise convolution, its pixel `first`; output starts at pixel `first`.
  void Run(const float* input, int64_t first, int64_t last, int64_t first_block, int64_t last_block,
           std::byte* scratch, float* output) const;

 private:
  // Large filters are multiplied with this many tiles of kFloatPixels at once: 60 pixels, so that
  // an image of 7x7 reads them once.
  static constexpr size_t kManyTiles = 5;

  // The next pixels of a run.
  struct Place {
    const float* input;  // the image, or the next pixel of a pixelwise convolution
    int64_t pixels;      // number of those that are left
    OutputGrid::Position start;
    float* output;
  };

  void FindTile(Place& place, ptrdiff_t* taps, FloatArgs& tile) const;
  void FindPixels(Place& place, FloatArgs& tile) const;
  void FindTaps(Place& place, ptrdiff_t* taps, FloatArgs& tile) const;
  void SetColumns(int64_t first_block, int64_t last_block, FloatArgs& tile) const;
  void Multiply(const FloatArgs& args) const;
  // Multiplies each block of channels with several tiles before the next block is read.
  void MultiplyLarge(Place& place, int64_t first_block, int64_t last_block,
                     std::byte* scratch) const;
  size_t FirstChannel(int64_t block) const { return static_cast<size_t>(block) * block_channels_; }

  FloatConv2dSpec spec_;
  FloatRow row_;
  FloatRange range_;
  size_t group_columns_;   // columns of a group's right side, filled up
  size_t block_channels_;  // 0 if all channels are computed together
  bool has_large_filters_;
  std::array<ptrdiff_t, kFloatPixels> neighbours_;  // pixels of a tile of a pixelwise convolution
  TapRuns runs_;
  SharedBuffer<float> filters_;
  AlignedBuffer<float> bias_;
  OutputGrid grid_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_FLOAT_CONV2D_H_
