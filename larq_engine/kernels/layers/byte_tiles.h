// Computes tiles as products of bytes: of lines of the image as bytes, or of taps whose planes are
// expanded to bytes as they are gathered. Numbers of more planes than a byte holds become several
// bytes, and take several products.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_BYTE_TILES_H_
#define LARQ_ENGINE_KERNELS_LAYERS_BYTE_TILES_H_

#include <optional>
#include <vector>

#include "larq_engine/kernels/bytes/pack_bytes.h"
#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/layers/byte_lines.h"
#include "larq_engine/kernels/layers/tap_runs.h"
#include "larq_engine/kernels/layers/tile_product.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class ByteTiles : public TileProduct {
 public:
  // `filter` is laid out as for Bconv2d.
  ByteTiles(const Bconv2dSpec& spec, const uint32_t* filter, const ByteRow& row,
            const PixelOps& ops);

  const char* kernel() const override { return row_.name; }
  int64_t tile_pixels() const override { return in_lines_ ? lines_->tile_pixels() : row_.mr; }
  int64_t tile_step() const override { return 1; }
  int64_t tile_rows() const override { return row_.mr; }
  void Resize(const OutputGrid& grid) override;
  Scratch TakeScratch(ScratchParts& parts) const override;
  void Run(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const override;

 private:
  void RunLines(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const;
  void RunTaps(const OutputGrid& grid, const ProductTile& tile, const Scratch& scratch) const;
  void Multiply(const PlanePart& in_part, size_t group, const ProductTile& tile, int32_t* acc,
                const Scratch& scratch, ByteArgs& args) const;
  void Gather(const BgemmArgs& taps, const PlanePart& part, uint8_t* bytes) const;

  Bconv2dSpec spec_;
  ByteRow row_;
  const PixelOps& ops_;
  std::optional<ByteLines> lines_;  // present if ByteLines::Serve
  bool in_lines_ = false;           // whether lines serve for this size of images
  TapRuns runs_;
  ByteFilters filters_;
  std::vector<PlanePart> in_parts_;
  size_t row_bytes_;              // bytes from a pixel's taps to the next pixel's
  AlignedBuffer<int32_t> zeros_;  // the start of the products after the first
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_BYTE_TILES_H_
