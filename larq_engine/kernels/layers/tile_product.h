// The product of a tile of output pixels with the filters: as planes of bits (plane_tiles.h), or as
// bytes (byte_tiles.h). Both give the same accumulators.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_TILE_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_LAYERS_TILE_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/kernels/layers/byte_lines.h"
#include "larq_engine/kernels/layers/gather_taps.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

struct ProductTile {
  const uint32_t* input;  // the packed image
  OutputGrid::Position start;
  size_t pixels;
  size_t first_channel;  // first channel of the output; 0 unless there is one group
  size_t channels;
  int32_t* acc;  // [pixels][channels]
};

class TileProduct {
 public:
  // One worker's memory.
  struct Scratch {
    ptrdiff_t* taps;
    TapGatherer::Scratch gather;
    uint8_t* bytes;
    ByteLines::Scratch lines;
    int32_t* part;  // [pixels of a tile][channels]: a product after the first
  };

  virtual ~TileProduct() = default;
  virtual const char* kernel() const = 0;
  virtual int64_t tile_pixels() const = 0;  // the most pixels of a tile
  // The number of pixels computed at a time: a tile of fewer takes as long.
  virtual int64_t tile_step() const = 0;
  virtual int64_t tile_rows() const = 0;  // the most rows of acc that a tile may overwrite
  virtual void Resize(const OutputGrid& grid) = 0;
  virtual Scratch TakeScratch(ScratchParts& parts) const = 0;
  virtual void Run(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const = 0;
};

// Adds the product in args.acc, times 2^shift, to acc, which has the same layout.
template <typename Args>
void AddProduct(const PixelOps& ops, const Args& args, int shift, int32_t* acc) {
  for (size_t i = 0; i < args.m; ++i) {
    const size_t at = i * args.acc_stride;
    ops.add_shifted(args.acc + at, args.n, shift, acc + at);
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_TILE_PRODUCT_H_
