// The tiles into which kernels of binary convolutions divide their work. The host sizes launches by
// them, and they are template arguments of the kernels. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TILES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TILES_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/block_bounds.h"

namespace larq_engine::cuda {

// The tile of bconv2d_mma.h. A block may have 48 KiB of shared memory without asking for more.
struct MmaTile {
  int m;  // output pixels of a block
  int n;  // output channels
  int warp_m;
  int warp_n;
  int stages;
  int copy_words;   // contiguous words in the image, which divide tap_words
  uint32_t blocks;  // that share the registers of a multiprocessor
  // Tells whether the kernel goes through pairs of planes, which takes some registers.
  bool has_planes = true;

  static constexpr int kStepWords = 16;  // words of the depth in a stage

  constexpr int warps_m() const { return m / warp_m; }
  constexpr int warps_n() const { return n / warp_n; }
  constexpr int threads() const { return warps_m() * warps_n() * 32; }
  constexpr int shared_bytes() const { return stages * (m + n) * kStepWords * 4; }
  constexpr BlockBounds bounds() const {
    return {.threads = static_cast<uint32_t>(threads()),
            .shared_bytes = static_cast<uint32_t>(shared_bytes()),
            .blocks = blocks};
  }
};

// Filters are padded to a multiple of this number of words.
inline constexpr int kFilterStepWords = 16;

// The tile of bconv2d_wgmma.h: two warpgroups compute 64 output pixels each.
struct WgmmaTile {
  int n;  // output channels
  int stages;
  uint32_t blocks;  // that share the memory of a multiprocessor

  static constexpr int kM = 128;
  static constexpr int kThreads = 256;
  static constexpr int kStepWords = 32;
  static constexpr int kCopyWords = 4;  // contiguous words in the image, which divide tap_words

  constexpr int shared_bytes() const { return stages * (kM + n) * kStepWords * 4; }
  constexpr BlockBounds bounds() const {
    return {.threads = kThreads,
            .shared_bytes = static_cast<uint32_t>(shared_bytes()),
            .blocks = blocks};
  }
};

// The tile of bconv2d_tma.h: 128 output pixels and 256 channels.
struct TmaTile {
  int stages;

  static constexpr int kM = 128;
  static constexpr int kN = 256;
  static constexpr int kStepWords = 32;
  static constexpr int kStageBytes = (kM + kN) * kStepWords * 4;
  // Two warpgroups multiply 64 pixels each. A third one fetches, and gives registers to them: three
  // warpgroups begin with 168 registers for each thread, too few for a product of 256 channels and
  // its output.
  static constexpr int kMultipliers = 256;
  static constexpr int kThreads = 384;
  static constexpr int kBeginRegisters = 168;  // of each thread, as compiled
  static constexpr int kMultipliersRegisters = 232;
  static constexpr int kFetchersRegisters = 40;
  // Otherwise the multipliers would wait for registers for ever.
  static_assert(kMultipliersRegisters * kMultipliers +
                    kFetchersRegisters * (kThreads - kMultipliers) <=
                kBeginRegisters * kThreads);
  // Bytes of each pixel's ones, and for each warp those of the channels' constants or of a
  // ExchangeTile, which is smaller.
  static constexpr int kOutputBytes = kM * 4 + kMultipliers / 32 * 3 * kN * 4;

  // Bytes of the stages, the outputs and the barriers.
  constexpr int shared_bytes() const {
    return stages * kStageBytes + kOutputBytes + 2 * stages * 8;
  }
  constexpr BlockBounds bounds() const {
    return {
        .threads = kThreads, .shared_bytes = static_cast<uint32_t>(shared_bytes()), .blocks = 1};
  }
};

// The tile of bconv2d_small.h: 16 pixels, 16 channels, and a warp for each part of the depth.
struct SmallTile {
  int load_words;  // that lie together in the image: they divide tap_words

  static constexpr int kSize = 16;
  static constexpr int kMaxWarps = 9;  // warps that have a part of the depth: 3 x 3 taps
  // The number of values that a thread finishes, and the number of warps that this takes.
  static constexpr int kValues = 2;
  static constexpr int kMinWarps = kSize * kSize / 32 / kValues;

  // Returns the words of the depth that a warp takes at once.
  constexpr int step_words() const { return load_words == 4 ? 16 : 8; }
  // Returns the bytes of the sums of all warps.
  static constexpr int SharedBytes(int warps) { return warps * kSize * kSize * 4; }
  constexpr BlockBounds bounds() const {
    return {.threads = kMaxWarps * 32,
            .shared_bytes = static_cast<uint32_t>(SharedBytes(kMaxWarps)),
            .blocks = 3};
  }
};

// The tile of bconv2d_halo.h: 8 lines of 16 output pixels, of which each of four warps has two, and
// 64 channels.
struct HaloTile {
  int tap_words;  // words of an image's pixel: an even number

  static constexpr int kFilterSize = 3;
  static constexpr int kTaps = kFilterSize * kFilterSize;
  static constexpr int kHeight = 8;
  static constexpr int kWidth = 16;
  static constexpr int kM = kHeight * kWidth;
  static constexpr int kN = 64;
  static constexpr int kThreads = 128;
  // The halo is the tile with the surrounding pixels that its windows reach.
  static constexpr int kHaloHeight = kHeight + kFilterSize - 1;
  static constexpr int kHaloWidth = kWidth + kFilterSize - 1;
  static constexpr int kHaloPixels = kHaloHeight * kHaloWidth;
  // Pixels from one line to the next in shared memory, so that the taps of two lines that a warp
  // reads at once are in different banks.
  static constexpr int kHaloPitch = 22;
  static constexpr int kStepWords = 8;  // words of the depth in one product
  static constexpr int kBlocks = 3;     // blocks that share a multiprocessor

  constexpr int steps() const { return (kTaps * tap_words + kStepWords - 1) / kStepWords; }
  // Words of a channel's filter. The number of steps is odd, so that rows begin in different banks.
  constexpr int filter_words() const { return steps() * kStepWords; }
  constexpr int halo_bytes() const { return kHaloHeight * kHaloPitch * tap_words * 4; }
  constexpr int filter_bytes() const { return kN * filter_words() * 4; }
  // Bytes of the epilogue's constants, the ones of the halo's pixels and of the windows, and the
  // warps' ExchangeTiles.
  static constexpr int kOutputBytes = (3 * kN + kHaloPixels + kM + kThreads / 32 * 16 * 40) * 4;

  // Bytes of the filters, the outputs and two halos: one is read while the next one arrives.
  constexpr int shared_bytes() const { return filter_bytes() + 2 * halo_bytes() + kOutputBytes; }
  constexpr BlockBounds bounds() const {
    return {.threads = kThreads,
            .shared_bytes = static_cast<uint32_t>(shared_bytes()),
            .blocks = kBlocks};
  }
};

// The tile of bconv2d_mma8.h: four warps.
struct Mma8Tile {
  int load_words;  // that lie together in the image: they divide tap_words

  static constexpr int kSize = 64;  // output pixels, and output channels
  static constexpr int kThreads = 128;
  // Words from one row of 32 channels that lanes exchange to the next: 8-byte writes of 4 rows at
  // once are in different banks.
  static constexpr int kPitch = 40;
  static constexpr int kSharedBytes = kThreads * kPitch * 4;

  constexpr BlockBounds bounds() const {
    return {.threads = kThreads, .shared_bytes = kSharedBytes, .blocks = 3};
  }
};

inline constexpr MmaTile kMma128x128c16{
    .m = 128, .n = 128, .warp_m = 64, .warp_n = 64, .stages = 3, .copy_words = 4, .blocks = 2};
inline constexpr MmaTile kMma128x128c8{
    .m = 128, .n = 128, .warp_m = 64, .warp_n = 64, .stages = 3, .copy_words = 2, .blocks = 2};
inline constexpr MmaTile kMma128x128c4{
    .m = 128, .n = 128, .warp_m = 64, .warp_n = 64, .stages = 3, .copy_words = 1, .blocks = 2};
// Three blocks share the registers of a multiprocessor.
inline constexpr MmaTile kMma128x64c16{.m = 128,
                                       .n = 64,
                                       .warp_m = 64,
                                       .warp_n = 32,
                                       .stages = 4,
                                       .copy_words = 4,
                                       .blocks = 3,
                                       .has_planes = false};
inline constexpr MmaTile kMma128x64c8{.m = 128,
                                      .n = 64,
                                      .warp_m = 64,
                                      .warp_n = 32,
                                      .stages = 4,
                                      .copy_words = 2,
                                      .blocks = 3,
                                      .has_planes = false};
inline constexpr MmaTile kMma128x64c4{.m = 128,
                                      .n = 64,
                                      .warp_m = 64,
                                      .warp_n = 32,
                                      .stages = 4,
                                      .copy_words = 1,
                                      .blocks = 3,
                                      .has_planes = false};
inline constexpr MmaTile kMma64x64c16{
    .m = 64, .n = 64, .warp_m = 32, .warp_n = 32, .stages = 4, .copy_words = 4, .blocks = 4};
inline constexpr MmaTile kMma64x64c8{
    .m = 64, .n = 64, .warp_m = 32, .warp_n = 32, .stages = 4, .copy_words = 2, .blocks = 4};
inline constexpr MmaTile kMma64x64c4{
    .m = 64, .n = 64, .warp_m = 32, .warp_n = 32, .stages = 4, .copy_words = 1, .blocks = 4};
inline constexpr Mma8Tile kMma8c16{.load_words = 4};
inline constexpr Mma8Tile kMma8c8{.load_words = 2};
inline constexpr Mma8Tile kMma8c4{.load_words = 1};
// Two blocks of 128 channels, or one of 256, fill the 227 KiB of a multiprocessor's shared memory.
inline constexpr WgmmaTile kWgmma128x128{.n = 128, .stages = 3, .blocks = 2};
inline constexpr WgmmaTile kWgmma128x256{.n = 256, .stages = 4, .blocks = 1};
inline constexpr TmaTile kTma128x256{.stages = 4};
inline constexpr SmallTile kSmallC16{.load_words = 4};
inline constexpr SmallTile kSmallC8{.load_words = 2};
inline constexpr SmallTile kSmallC4{.load_words = 1};
inline constexpr HaloTile kHalo64{.tap_words = 2};
inline constexpr HaloTile kHalo128{.tap_words = 4};

// Kernels on tensor cores keep the taps inside the image as bits, and offsets in it in 32 bits.
inline constexpr int kMaxFilterSize = 15;
inline constexpr int kMaxReach = 1 << 15;  // the greatest pad, stride or dilation

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TILES_H_
