// Computes tiles as binary products: one for each plane of the image and each plane of the filters.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_PLANE_TILES_H_
#define LARQ_ENGINE_KERNELS_LAYERS_PLANE_TILES_H_

#include "larq_engine/kernels/binary/pack_rhs.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/layers/gather_taps.h"
#include "larq_engine/kernels/layers/tap_runs.h"
#include "larq_engine/kernels/layers/tile_product.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class PlaneTiles : public TileProduct {
 public:
  // `filter` is laid out as for Bconv2d.
  PlaneTiles(const Bconv2dSpec& spec, const uint32_t* filter, const BgemmRow& row,
             const PixelOps& ops);

  const char* kernel() const override { return row_.name; }
  int64_t tile_pixels() const override { return row_.mr; }
  int64_t tile_step() const override { return row_.mr_step; }
  int64_t tile_rows() const override { return row_.mr; }
  void Resize(const OutputGrid& grid) override { runs_.Resize(grid); }
  Scratch TakeScratch(ScratchParts& parts) const override;
  void Run(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const override;

 private:
  void RunProducts(size_t group, int64_t plane, const ProductTile& tile, const Scratch& scratch,
                   BgemmArgs& args) const;

  Bconv2dSpec spec_;
  BgemmRow row_;
  const PixelOps& ops_;
  TapRuns runs_;
  TapGatherer gatherer_;
  PackedFilters filters_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_PLANE_TILES_H_
