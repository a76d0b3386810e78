// Finds where the taps of a tile of output pixels are: runs of words in the image, or of padding.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_TAP_RUNS_H_
#define LARQ_ENGINE_KERNELS_LAYERS_TAP_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/binary/bgemm.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/operands.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {

class TapRuns {
 public:
  using Position = OutputGrid::Position;

  // Tiles have up to mr pixels.
  TapRuns(const Bconv2dSpec& spec, size_t mr);

  size_t mr() const { return mr_; }

  void Resize(const OutputGrid& grid);

  // The memory that one worker needs, for tiles at a border.
  ptrdiff_t* TakeScratch(ScratchParts& parts) const { return parts.Take<ptrdiff_t>(mr_, taps_); }

  // Sets the left side of a tile of tile.m pixels from `start` on. group_input is the packed image
  // from the first word of the plane and group on. The planes and groups that follow are at the
  // same distances as in the image, also in padding. With 64 channels a tile of 6 pixels has 54
  // taps and takes the fastest row some 350 cycles, so most tiles must find their taps at no cost:
  // away from the borders all tiles share one list of offsets.
  // Returns whether the tile uses that list.
  bool Find(const OutputGrid& grid, const uint32_t* group_input, const Position& start,
            ptrdiff_t* scratch, BgemmArgs& tile) const {
    // LhsRun computes in unsigned whole numbers, because the tap may be outside the image.
    tile.lhs_base = LhsRun(group_input, FirstTap(grid, start));
    if (!grid.AreInnerInLine(start, tile.m)) {
      tile.lhs = PadTaps(grid, start, scratch, tile);
      tile.segments = taps_;
      tile.segment_words = tap_words_;
      return false;
    }
    const bool is_inner = grid.IsInnerLine(start);
    tile.lhs = is_inner ? inner_runs_.data() : PadLines(grid, start, scratch, tile);
    tile.segments = inner_segments_;
    tile.segment_words = inner_segment_words_;
    return is_inner;
  }

 private:
  // Returns where the first tap of an output pixel is, in words from the input; it may lie outside.
  // The arithmetic is unsigned: far outside, which large dilations reach, the position wraps and is
  // not used.
  ptrdiff_t FirstTap(const OutputGrid& grid, const Position& position) const {
    const WindowAxis& height = grid.height();
    const WindowAxis& width = grid.width();
    const auto line = static_cast<uint64_t>(position.image * height.in +
                                            position.y * height.stride - height.pad_before);
    const uint64_t pixel = line * static_cast<uint64_t>(width.in) +
                           static_cast<uint64_t>(position.x * width.stride - width.pad_before);
    return static_cast<ptrdiff_t>(pixel * pixel_words_);
  }

  const ptrdiff_t* PadLines(const OutputGrid& grid, const Position& start, ptrdiff_t* runs,
                            const BgemmArgs& tile) const;
  const ptrdiff_t* PadTaps(const OutputGrid& grid, const Position& start, ptrdiff_t* taps,
                           const BgemmArgs& tile) const;
  void PadTapsOfPixel(const OutputGrid& grid, const Position& position, ptrdiff_t padding,
                      ptrdiff_t* taps) const;

  size_t mr_;
  size_t taps_;
  size_t tap_words_;
  size_t pixel_words_;
  // Away from the borders, the taps of a filter line are one run if they follow each other in the
  // image: with 64 channels, setting up a run of one tap costs an eighth of its product.
  size_t inner_segments_;
  size_t inner_segment_words_;
  std::vector<uint32_t> padding_run_;  // a run of +1 or of -1 in every plane and group
  // The positions of the taps of a tile that is away from all borders, in words from its first tap:
  // [taps][mr], and [runs][mr].
  std::vector<ptrdiff_t> inner_taps_;
  std::vector<ptrdiff_t> inner_runs_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_TAP_RUNS_H_
