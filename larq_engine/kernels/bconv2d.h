// LceBconv2d: a convolution of +-1 values, as binary products of output pixels with filters.
//
// Output pixels (over the whole batch) are cut into tiles of up to mr, and a strip of tiles runs
// through the product, the correction of zero padding and the output transform while its
// accumulators are in L1. Ranges of pixels are independent, so that a caller may spread them over
// threads, and so are blocks of output channels, for layers of few pixels.
#ifndef LARQ_ENGINE_KERNELS_BCONV2D_H_
#define LARQ_ENGINE_KERNELS_BCONV2D_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/kernel_table.h"
#include "larq_engine/kernels/output_transform.h"
#include "larq_engine/kernels/select.h"

namespace larq_engine {

// Whether pixels next to each other share what they pack of a filter line: its bits fit a word.
bool RollsLines(const Bconv2dSpec& spec);

// The product that one group asks for, for SelectBgemm.
BgemmShape ProductShape(const Bconv2dSpec& spec);

class Bconv2d {
 public:
  // filter is [out_channels][filter_height][filter_width][words of one group's channels]. Nothing
  // of it is kept.
  Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
          const BgemmRow& row, const PixelOps& ops);

  // Sets the size of the input image; before the first Run.
  void Resize(int64_t in_height, int64_t in_width);

  const BgemmRow& row() const { return row_; }
  int64_t channel_blocks() const;
  size_t scratch_bytes() const;  // for each concurrent Run, kBufferAlignment aligned

  // Computes output pixels [first, last), of them the channels of blocks [first_block, last_block).
  // input is the packed image, output starts at pixel `first`.
  void Run(const uint32_t* input, int64_t first, int64_t last, int64_t first_block,
           int64_t last_block, std::byte* scratch, std::byte* output) const;

 private:
  struct Scratch;
  struct Position {  // of an output pixel
    int64_t image;
    int64_t y;
    int64_t x;
  };
  struct Channels {  // of the output
    size_t first;
    size_t count;
  };
  Scratch SplitScratch(std::byte* memory) const;
  Position Locate(int64_t pixel) const;
  void Advance(Position& position, int64_t pixels) const;
  ptrdiff_t FirstTap(const Position& position) const;
  bool IsInnerRow(const Position& position) const;
  bool AreInnerCols(const Position& position, size_t pixels) const;
  void FindTaps(const uint32_t* group_input, const Position& start, const Scratch& scratch,
                BgemmArgs& tile) const;
  const ptrdiff_t* PadLines(const Position& start, ptrdiff_t* runs, const BgemmArgs& tile) const;
  const ptrdiff_t* PadTaps(const Position& start, ptrdiff_t* taps, const BgemmArgs& tile) const;
  void PadTapsOfPixel(const Position& position, ptrdiff_t padding, ptrdiff_t* taps) const;
  void Gather(const Scratch& scratch, BgemmArgs& tile) const;
  void GatherBits(const Scratch& scratch, BgemmArgs& tile) const;
  void AppendLine(const uint32_t* base, const ptrdiff_t* runs, size_t m, size_t shift,
                  uint64_t* bits) const;
  void CorrectZeroPadding(Position position, size_t m, const Channels& channels, int32_t* acc,
                          int32_t* depth) const;
  void SumFilterBits(const uint32_t* filter);

  Bconv2dSpec spec_;
  OutputTransform transform_;
  BgemmRow row_;
  const PixelOps& ops_;
  size_t tap_words_;  // of one group, as in the file
  bool packs_taps_;   // the bits of taps are put together to one run
  bool in_place_;     // runs are taps in the image; else they are gathered to one run
  size_t k_words_;    // of a product, filled up to the kernel's steps
  size_t strip_;      // pixels that go through the output transform together, a multiple of mr
  // Away from the borders, the taps of a filter line are one run if they follow each other in the
  // image: with 64 channels, to set up a run of one tap costs an eighth of its product.
  size_t inner_segments_;
  size_t inner_segment_words_;
  size_t group_rhs_words_;
  AlignedBuffer<uint32_t> rhs_;        // [groups][packed]
  std::vector<uint32_t> padding_run_;  // a run of +1 or of -1
  // [filter_height + 1][filter_width + 1][out_channels]: the ones in the filter's taps above and
  // left of a corner, so that the ones of any rectangle of taps are four look-ups. Zero padding
  // only.
  std::vector<int32_t> filter_ones_;

  WindowAxis rows_;
  WindowAxis cols_;
  // Where the taps of a tile that is away from all borders are, in words from its first tap:
  // [taps][mr], and [runs][mr].
  std::vector<ptrdiff_t> inner_taps_;
  std::vector<ptrdiff_t> inner_runs_;
  // The output positions on each axis for which all taps are in the image.
  struct Inner {
    int64_t first;
    int64_t last;
  };
  Inner inner_rows_;
  Inner inner_cols_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BCONV2D_H_
