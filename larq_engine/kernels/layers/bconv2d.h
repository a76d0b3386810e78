// LceBconv2d: a convolution of +-1 values, computed as binary products of output pixels with
// filters. Values with more bits take one such product for each plane of the image and each plane
// of the filters, or one product of bytes.
//
// Output pixels (over the whole batch) are cut into tiles of up to mr. A strip of tiles runs
// through the product, the correction of zero padding and the output transform while its
// accumulators are in L1. Ranges of pixels are independent, so that a caller may spread them over
// threads. So are blocks of output channels, for layers of few pixels.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_BCONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_BCONV2D_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/even_parts.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/output_transform.h"
#include "larq_engine/kernels/layers/tile_product.h"
#include "larq_engine/kernels/layers/zero_padding.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class Bconv2d {
 public:
  // filter is [out_channels][filter_height][filter_width][planes][words of one group's channels].
  // The object keeps no pointer to it.
  Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
          const BgemmRow& row, const PixelOps& ops);
  Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
          const ByteRow& row, const PixelOps& ops);

  // Sets the size of the input image; must be called before the first Run.
  void Resize(int64_t in_height, int64_t in_width);

  const char* kernel() const { return product_->kernel(); }
  KernelPixels kernel_pixels() const {
    return {.tile = product_->tile_pixels(), .step = product_->tile_step()};
  }
  int64_t channel_blocks() const;
  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes the channels of blocks [first_block, last_block) of output pixels [first, last).
  // `input` is the packed image. `output` starts at pixel `first`, and so does the addend of a sum,
  // if the output is of floats.
  void Run(const uint32_t* input, int64_t first, int64_t last, int64_t first_block,
           int64_t last_block, std::byte* scratch, std::byte* output, ResidualSum sum = {}) const;

 private:
  struct Scratch;
  struct Channels {  // a range of output channels
    size_t first;
    size_t count;
  };
  Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
          const PixelOps& ops, std::unique_ptr<TileProduct> product);
  Scratch TakeScratch(ScratchParts& parts) const;
  Channels ChannelsOf(int64_t first_block, int64_t last_block) const;

  Bconv2dSpec spec_;
  OutputTransform transform_;
  const PixelOps& ops_;
  std::unique_ptr<TileProduct> product_;
  size_t strip_tiles_;  // tiles that go through the output transform together
  std::optional<ZeroPadding> zero_padding_;
  OutputGrid grid_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_BCONV2D_H_
