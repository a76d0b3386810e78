// Code that kernels share which compute a convolution as a product of matrices in steps: the place
// of a block in the product, and the copies of a step's rows into a stage of shared memory, first
// the rows of pixels, then those of channels.
//
// A Stage has the numbers of rows and words of a step (kM, kN, kStepWords), the number of threads
// that copy it (kThreads), the number of words that are contiguous in the image (kCopyWords), and
// the place of a 16-byte part of a row (kRowBytes, RowPart).
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_STAGES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_STAGES_H_

#include "larq_engine/kernels/cuda/bconv2d_planes.h"
#include "larq_engine/kernels/cuda/bconv2d_window.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// The part of the product that a block computes.
struct BlockPlace {
  int m0;  // the first output pixel
  int group;
  int first_channel;  // the first channel of the group
  int n0;             // the first channel of the block, counted from first_channel

  // Returns the place of a block. Neighbouring blocks have the same pixels, which the cache then
  // holds.
  template <class Stage>
  LE_DEVICE static BlockPlace Of(const Bconv2dArgs& a, int block) {
    const int group_tiles = (a.group_out_channels + Stage::kN - 1) / Stage::kN;
    const int tiles = a.out_channels / a.group_out_channels * group_tiles;
    const int tile = block % tiles;
    const int group = tile / group_tiles;
    return {block / tiles * Stage::kM, group, group * a.group_out_channels,
            tile % group_tiles * Stage::kN};
  }
};

// The copies of one thread: it copies the same words of a step for each of its rows.
template <class Stage>
struct ImageCopies {
  // Single words are copied in pairs: with more rows, a thread would need more registers than there
  // are.
  static constexpr int kWords = Stage::kCopyWords == 1 ? 2 : Stage::kCopyWords;
  static constexpr int kPlaces = kWords / Stage::kCopyWords;
  static constexpr int kParts = Stage::kStepWords / kWords;  // the parts of a row
  static constexpr int kRowsAtOnce = Stage::kThreads / kParts;
  static constexpr int kRows = Stage::kM / kRowsAtOnce;  // the rows of a thread
  // All rows of a thread have the same swizzle in a stage.
  static_assert(Stage::kM % kRowsAtOnce == 0 && kRowsAtOnce % 8 == 0);

  TapWindow windows[kRows];
  DepthPlace places[kPlaces];
  DepthPlace step;
  uint32_t to;  // the first row's offset in a stage

  LE_DEVICE ImageCopies(const Bconv2dArgs& a, const BlockPlace& block, const PlanePair& pair,
                        int thread) {
    const int word = thread % kParts * kWords;
    const int row = thread / kParts;
    MakeTapWindows(a, block.m0 + row, kRowsAtOnce,
                   pair.image * a.plane_words + block.group * a.tap_words, windows);
    LE_UNROLL
    for (int i = 0; i < kPlaces; ++i) places[i] = DepthPlace::At(a, word + i);
    step = DepthPlace::At(a, Stage::kStepWords);
    to = Stage::RowPart(row, word / 4) + static_cast<uint32_t>(word % 4 * 4);
  }

  LE_DEVICE void Issue(const Bconv2dArgs& a, uint32_t stage) {
    LE_UNROLL
    for (int p = 0; p < kPlaces; ++p) {
      const uint32_t tap_bits = places[p].TapBits(a);
      const int offset = places[p].Offset(a);
      LE_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const int bytes = windows[i].Has(tap_bits) ? Stage::kCopyWords * 4 : 0;
        const int row_bytes = i * kRowsAtOnce * Stage::kRowBytes;
        CopyAsync<Stage::kCopyWords * 4>(stage + to + static_cast<uint32_t>(row_bytes + 4 * p),
                                         a.image + (windows[i].offset + offset), bytes);
      }
      places[p].Advance(a, step);
    }
  }
};

template <class Stage>
struct FilterCopies {
  static constexpr int kParts = Stage::kRowBytes / 16;
  static constexpr int kRowsAtOnce = Stage::kThreads / kParts;
  static constexpr int kRows = Stage::kN / kRowsAtOnce;
  static_assert(Stage::kN % kRowsAtOnce == 0 && kRowsAtOnce % 8 == 0);

  const uint32_t* from;
  int channels_left;  // counted from the first row's channel
  int words_left;     // of the depth, counted from this thread's words
  uint32_t to;

  LE_DEVICE FilterCopies(const Bconv2dArgs& a, const BlockPlace& block, const PlanePair& pair,
                         int thread) {
    const int part = thread % kParts;
    const int row = thread / kParts;
    const int64_t channel = block.first_channel + block.n0 + row;
    from = pair.Filter(a) + channel * a.filter_words + part * 4;
    channels_left = a.group_out_channels - block.n0 - row;
    words_left = a.filter_words - part * 4;
    to = Stage::RowPart(row, part);
  }

  LE_DEVICE void Issue(const Bconv2dArgs& a, uint32_t stage) {
    // A filter is a whole number of steps of 16 words, but not of longer steps.
    const bool has_words = Stage::kStepWords == kFilterStepWords || words_left > 0;
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const int bytes = has_words && i * kRowsAtOnce < channels_left ? 16 : 0;
      CopyAsync<16>(stage + to + static_cast<uint32_t>(i * kRowsAtOnce * Stage::kRowBytes),
                    from + static_cast<int64_t>(i * kRowsAtOnce) * a.filter_words, bytes);
    }
    from += Stage::kStepWords;
    words_left -= Stage::kStepWords;
  }
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_STAGES_H_
