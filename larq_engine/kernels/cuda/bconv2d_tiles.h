// How kernels of a binary convolution divide it among blocks: what the host launches them by, and
// what they are made of. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TILES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TILES_H_

#include <cstdint>

namespace larq_engine::cuda {

// Of bconv2d_mma.h. 48 KiB of shared memory are what a block may have without asking.
struct MmaTile {
  int m;  // output pixels of a block
  int n;  // output channels
  int warp_m;
  int warp_n;
  int stages;
  int copy_words;  // that lie together in the image: they divide tap_words
  // Whether it goes through pairs of planes, which takes some registers.
  bool has_planes = true;

  static constexpr int kStepWords = 16;  // of the depth, in a stage

  constexpr int warps_m() const { return m / warp_m; }
  constexpr int warps_n() const { return n / warp_n; }
  constexpr int threads() const { return warps_m() * warps_n() * 32; }
  constexpr int shared_bytes() const { return stages * (m + n) * kStepWords * 4; }
};

// Filters are padded to a multiple of it.
inline constexpr int kFilterStepWords = 16;

// Of bconv2d_wgmma.h: two warpgroups of 64 output pixels each.
struct WgmmaTile {
  int n;  // output channels
  int stages;

  static constexpr int kM = 128;
  static constexpr int kThreads = 256;
  static constexpr int kStepWords = 32;
  static constexpr int kCopyWords = 4;  // that lie together in the image: they divide tap_words

  constexpr int shared_bytes() const { return stages * (kM + n) * kStepWords * 4; }
};

// Of bconv2d_tma.h: 128 output pixels and 256 channels.
struct TmaTile {
  int stages;

  static constexpr int kM = 128;
  static constexpr int kN = 256;
  static constexpr int kStepWords = 32;
  static constexpr int kStageBytes = (kM + kN) * kStepWords * 4;
  // Two warpgroups that multiply 64 pixels each, and one that fetches, which gives them registers:
  // three begin with 168 for each thread, too few for a product of 256 channels and its output.
  static constexpr int kMultipliers = 256;
  static constexpr int kThreads = 384;
  static constexpr int kBeginRegisters = 168;  // as the compiler gives them
  static constexpr int kMultipliersRegisters = 232;
  static constexpr int kFetchersRegisters = 40;
  // Else the multipliers wait for registers for ever.
  static_assert(kMultipliersRegisters * kMultipliers +
                    kFetchersRegisters * (kThreads - kMultipliers) <=
                kBeginRegisters * kThreads);
  // The ones of each pixel, and of each warp the constants of the channels, or where its lanes
  // exchange values, which is less.
  static constexpr int kOutputBytes = kM * 4 + kMultipliers / 32 * 3 * kN * 4;

  // Stages, outputs and barriers.
  constexpr int shared_bytes() const {
    return stages * kStageBytes + kOutputBytes + 2 * stages * 8;
  }
};

// Of bconv2d_small.h: 16 pixels, 16 channels, and a warp for each part of the depth.
struct SmallTile {
  int load_words;  // that lie together in the image: they divide tap_words

  static constexpr int kSize = 16;
  static constexpr int kMaxWarps = 9;  // that have a part: 3 x 3 taps
  // A thread finishes so many values, which takes so many warps.
  static constexpr int kValues = 2;
  static constexpr int kMinWarps = kSize * kSize / 32 / kValues;

  // Of the depth, which a warp takes at once.
  constexpr int step_words() const { return load_words == 4 ? 16 : 8; }
  // For the sums of each warp.
  static constexpr int SharedBytes(int warps) { return warps * kSize * kSize * 4; }
};

// Of bconv2d_halo.h: 8 lines of 16 output pixels, of which each of four warps has two, and 64
// channels.
struct HaloTile {
  int tap_words;  // of the image's pixels; even

  static constexpr int kFilterSize = 3;
  static constexpr int kTaps = kFilterSize * kFilterSize;
  static constexpr int kHeight = 8;
  static constexpr int kWidth = 16;
  static constexpr int kM = kHeight * kWidth;
  static constexpr int kN = 64;
  static constexpr int kThreads = 128;
  // With the pixels around it that its windows reach.
  static constexpr int kHaloHeight = kHeight + kFilterSize - 1;
  static constexpr int kHaloWidth = kWidth + kFilterSize - 1;
  static constexpr int kHaloPixels = kHaloHeight * kHaloWidth;
  // Pixels from a line to the next in shared memory: taps of two lines that a warp reads at once
  // are in different banks.
  static constexpr int kHaloPitch = 22;
  static constexpr int kStepWords = 8;  // of the depth, which a product takes
  static constexpr int kBlocks = 3;     // that share a multiprocessor

  constexpr int steps() const { return (kTaps * tap_words + kStepWords - 1) / kStepWords; }
  // Words of a channel's filter, whose rows so begin in different banks: an odd number of steps.
  constexpr int filter_words() const { return steps() * kStepWords; }
  constexpr int halo_bytes() const { return kHaloHeight * kHaloPitch * tap_words * 4; }
  constexpr int filter_bytes() const { return kN * filter_words() * 4; }
  // The epilogue's constants, the ones of the halo's pixels and of windows, and where a warp's
  // lanes exchange values.
  static constexpr int kOutputBytes = (3 * kN + kHaloPixels + kM + kThreads / 32 * 16 * 40) * 4;

  // One halo is read while the next one arrives.
  constexpr int shared_bytes() const { return filter_bytes() + 2 * halo_bytes() + kOutputBytes; }
};

// Of bconv2d_mma8.h: four warps.
struct Mma8Tile {
  int load_words;  // that lie together in the image: they divide tap_words

  static constexpr int kSize = 64;  // output pixels, and output channels
  static constexpr int kThreads = 128;
  // Of a row of 32 channels that lanes exchange: 8-byte writes of 4 rows go to different banks.
  static constexpr int kPitch = 40;
  static constexpr int kSharedBytes = kThreads * kPitch * 4;
};

inline constexpr MmaTile kMma128x128c16{128, 128, 64, 64, 3, 4};
inline constexpr MmaTile kMma128x128c8{128, 128, 64, 64, 3, 2};
inline constexpr MmaTile kMma128x128c4{128, 128, 64, 64, 3, 1};
// Three blocks have the registers of a multiprocessor.
inline constexpr MmaTile kMma128x64c16{128, 64, 64, 32, 4, 4, /*has_planes=*/false};
inline constexpr MmaTile kMma128x64c8{128, 64, 64, 32, 4, 2, /*has_planes=*/false};
inline constexpr MmaTile kMma128x64c4{128, 64, 64, 32, 4, 1, /*has_planes=*/false};
inline constexpr MmaTile kMma64x64c16{64, 64, 32, 32, 4, 4};
inline constexpr MmaTile kMma64x64c8{64, 64, 32, 32, 4, 2};
inline constexpr MmaTile kMma64x64c4{64, 64, 32, 32, 4, 1};
inline constexpr Mma8Tile kMma8c16{4};
inline constexpr Mma8Tile kMma8c8{2};
inline constexpr Mma8Tile kMma8c4{1};
// Two blocks of 128 channels, or one of 256, have a multiprocessor's 227 KiB.
inline constexpr WgmmaTile kWgmma128x128{128, 3};
inline constexpr WgmmaTile kWgmma128x256{256, 4};
inline constexpr TmaTile kTma128x256{4};
inline constexpr SmallTile kSmallC16{4};
inline constexpr SmallTile kSmallC8{2};
inline constexpr SmallTile kSmallC4{1};
inline constexpr HaloTile kHalo64{2};
inline constexpr HaloTile kHalo128{4};

// The tensor cores' kernels keep the taps inside the image as bits, and places in it in 32 bits.
inline constexpr int kMaxFilterSize = 15;
inline constexpr int kMaxReach = 1 << 15;  // of pads, strides and dilations

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TILES_H_
