// Binary convolution on tensor cores, as a product of matrices that are nowhere in memory: rows are
// output pixels, columns output channels, and the depth runs over taps and the words of each.
//
//   ones(p xor f) = ones(p) + ones(f) - 2 ones(p and f)
//
// Taps outside the image are zeros, which add nothing to either side; see DotProduct. A block goes
// through the depth in steps of 16 words. Asynchronous copies bring the rows of a few steps ahead
// into stages of shared memory.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA_H_

#include "larq_engine/kernels/cuda/bconv2d_products.h"
#include "larq_engine/kernels/cuda/bconv2d_window.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

inline constexpr int kRowBytes = MmaTile::kStepWords * 4;

// Of a 16-byte part of a row in a stage. The 8 rows that ldmatrix reads at once are in different
// banks: two rows fill all of them once, and the next two are shifted by a part.
LE_DEVICE uint32_t RowPart(int row, int part) {
  return static_cast<uint32_t>(row * kRowBytes + ((part ^ row / 2) & 3) * 16);
}

// nvcc calls functions of the host in no function of a device, be they constant or not.
template <MmaTile kTile>
struct MmaSizes {
  static constexpr int kThreads = kTile.threads();
  static constexpr int kWarpsM = kTile.warps_m();
  static constexpr int kWarpsN = kTile.warps_n();
  static constexpr int kSharedBytes = kTile.shared_bytes();
  static constexpr int kStageBytes = kSharedBytes / kTile.stages;
};

// What one thread copies: of some rows always the same words of a step.
template <MmaTile kTile>
struct ImageCopies {
  // Single words come in pairs: more rows of a thread would need more registers than there are.
  static constexpr int kWords = kTile.copy_words == 1 ? 2 : kTile.copy_words;
  static constexpr int kPlaces = kWords / kTile.copy_words;
  static constexpr int kParts = MmaTile::kStepWords / kWords;  // of a row
  static constexpr int kRowsAtOnce = MmaSizes<kTile>::kThreads / kParts;
  static constexpr int kRows = kTile.m / kRowsAtOnce;  // of a thread
  // All rows of a thread are shifted alike in a stage.
  static_assert(kTile.m % kRowsAtOnce == 0 && kRowsAtOnce % 8 == 0);

  TapWindow windows[kRows];
  DepthPlace places[kPlaces];
  DepthPlace step;
  uint32_t to;  // in a stage, of the first row

  LE_DEVICE ImageCopies(const Bconv2dArgs& a, int m0, int first_word, int thread) {
    const int word = thread % kParts * kWords;
    const int row = thread / kParts;
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      windows[i] = MakeTapWindow(a, m0 + row + i * kRowsAtOnce, first_word);
    }
    LE_UNROLL
    for (int i = 0; i < kPlaces; ++i) places[i] = DepthPlace::At(a, word + i);
    step = DepthPlace::At(a, MmaTile::kStepWords);
    to = RowPart(row, word / 4) + static_cast<uint32_t>(word % 4 * 4);
  }

  LE_DEVICE void Issue(const Bconv2dArgs& a, uint32_t stage) {
    LE_UNROLL
    for (int p = 0; p < kPlaces; ++p) {
      const uint32_t tap_bits = places[p].TapBits(a);
      const int offset = places[p].Offset(a);
      LE_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const int bytes = windows[i].Has(tap_bits) ? kTile.copy_words * 4 : 0;
        const int row_bytes = i * kRowsAtOnce * kRowBytes;
        CopyAsync<kTile.copy_words * 4>(stage + to + static_cast<uint32_t>(row_bytes + 4 * p),
                                        a.image + (windows[i].offset + offset), bytes);
      }
      places[p].Advance(a, step);
    }
  }
};

template <MmaTile kTile>
struct FilterCopies {
  static constexpr int kParts = kRowBytes / 16;
  static constexpr int kRowsAtOnce = MmaSizes<kTile>::kThreads / kParts;
  static constexpr int kRows = kTile.n / kRowsAtOnce;
  static_assert(kTile.n % kRowsAtOnce == 0 && kRowsAtOnce % 8 == 0);

  const uint32_t* from;
  int channels_left;  // from the first row's on
  uint32_t to;

  LE_DEVICE FilterCopies(const Bconv2dArgs& a, int channel, int channels, int thread) {
    const int part = thread % kParts;
    const int row = thread / kParts;
    from = a.filter + static_cast<int64_t>(channel + row) * a.filter_words + part * 4;
    channels_left = channels - row;
    to = RowPart(row, part);
  }

  LE_DEVICE void Issue(const Bconv2dArgs& a, uint32_t stage) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const int bytes = i * kRowsAtOnce < channels_left ? 16 : 0;
      CopyAsync<16>(stage + to + static_cast<uint32_t>(i * kRowsAtOnce * kRowBytes),
                    from + static_cast<int64_t>(i * kRowsAtOnce) * a.filter_words, bytes);
    }
    from += MmaTile::kStepWords;
  }
};

// A warp's part of the product.
template <MmaTile kTile>
struct WarpProduct {
  static constexpr int kFragmentsM = kTile.warp_m / 16;
  static constexpr int kFragmentsN = kTile.warp_n / 8;
  // The warps that have the same rows count their ones in turns.
  static_assert(MmaSizes<kTile>::kWarpsN == 1 || MmaSizes<kTile>::kWarpsN == 2);

  FragmentC c[kFragmentsM][kFragmentsN];
  int ones[kFragmentsM][2];  // of rows g and g + 8 of a fragment, in this lane's words

  LE_DEVICE WarpProduct() {
    LE_UNROLL
    for (int i = 0; i < kFragmentsM; ++i) {
      ones[i][0] = ones[i][1] = 0;
      LE_UNROLL
      for (int j = 0; j < kFragmentsN; ++j) c[i][j] = {};
    }
  }

  // Of a step whose rows are in a stage: first the pixels', then the channels'.
  template <class Products>
  LE_DEVICE void Add(uint32_t stage, int warp_m, int warp_n, int lane) {
    LE_UNROLL
    for (int half = 0; half < 2; ++half) {
      FragmentA a[kFragmentsM];
      LE_UNROLL
      for (int i = 0; i < kFragmentsM; ++i) {
        // Matrices: rows 0-7 and 8-15 of the low 128 bits, then of the high.
        const int row = warp_m * kTile.warp_m + 16 * i + lane % 16;
        LoadMatrix4(a[i].r, stage + RowPart(row, 2 * half + lane / 16));
      }
      if (half % MmaSizes<kTile>::kWarpsN == warp_n % MmaSizes<kTile>::kWarpsN) {
        LE_UNROLL
        for (int i = 0; i < kFragmentsM; ++i) {
          ones[i][0] += __popc(a[i].r[0]) + __popc(a[i].r[2]);
          ones[i][1] += __popc(a[i].r[1]) + __popc(a[i].r[3]);
        }
      }
      LE_UNROLL
      for (int j = 0; j < kFragmentsN; j += 2) {
        // Matrices: low and high 128 bits of columns 0-7, then of 8-15.
        const int row = kTile.m + warp_n * kTile.warp_n + 8 * j + lane / 16 * 8 + lane % 8;
        uint32_t r[4];
        LoadMatrix4(r, stage + RowPart(row, 2 * half + lane / 8 % 2));
        Products::Add(c, j, a, r);
      }
    }
  }
};

// Shared memory after the product: what rows have in common, and a corner for each warp, where its
// lanes exchange values so that a lane has a channel and a warp writes a whole row of 32.
template <MmaTile kTile>
struct MmaOutputs {
  // 8-byte writes of 4 rows at once go to different banks.
  static constexpr int kPitch = 40;

  int32_t ones[MmaSizes<kTile>::kWarpsN][kTile.m];
  int32_t warps[MmaSizes<kTile>::kWarpsM * MmaSizes<kTile>::kWarpsN][16][kPitch];
};

template <MmaTile kTile>
LE_DEVICE void FinishProduct(const Bconv2dArgs& a, const WarpProduct<kTile>& product,
                             MmaOutputs<kTile>& shared, int m0, int n0, int first_channel) {
  using Product = WarpProduct<kTile>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int warp_m = warp % MmaSizes<kTile>::kWarpsM;
  const int warp_n = warp / MmaSizes<kTile>::kWarpsM;
  LE_UNROLL
  for (int i = 0; i < Product::kFragmentsM; ++i) {
    LE_UNROLL
    for (int h = 0; h < 2; ++h) {
      int ones = product.ones[i][h];
      ones += __shfl_xor_sync(~0u, ones, 1);
      ones += __shfl_xor_sync(~0u, ones, 2);
      const int row = warp_m * kTile.warp_m + 16 * i + 8 * h + lane / 4;
      if (lane % 4 == 0) shared.ones[warp_n][row] = ones;
    }
  }
  __syncthreads();

  const int pixels = a.batch * a.out_height * a.out_width;
  int32_t(*const corner)[MmaOutputs<kTile>::kPitch] = shared.warps[warp];
  constexpr int kWords = Product::kFragmentsN / 4;  // of channels
  // One copy of the code for all fragments, which unrolled is more than a cache of instructions.
  LE_NO_UNROLL
  for (int chunk = 0; chunk < Product::kFragmentsM * kWords; ++chunk) {
    __syncwarp();
    LE_UNROLL
    for (int i = 0; i < Product::kFragmentsM; ++i) {
      LE_UNROLL
      for (int j = 0; j < kWords; ++j) {
        if (chunk != i * kWords + j) continue;
        LE_UNROLL
        for (int e = 0; e < 16; ++e) {
          const int32_t value = product.c[i][4 * j + e / 4].r[e % 4];
          corner[lane / 4 + 8 * (e % 4 / 2)][8 * (e / 4) + 2 * (lane % 4) + e % 2] = value;
        }
      }
    }
    __syncwarp();
    const int n = n0 + warp_n * kTile.warp_n + chunk % kWords * kWarp;  // in the group
    if (n >= a.group_out_channels) continue;                            // the whole warp
    const bool inside = n + lane < a.group_out_channels;
    const int channel = first_channel + n + lane;
    const int filter_ones = inside ? a.filter_ones[channel] : 0;
    const int first_row = warp_m * kTile.warp_m + chunk / kWords * 16;
    constexpr int kRows = 4;  // at once: more need more registers
    LE_NO_UNROLL
    for (int r = 0; r < 16; r += kRows) {
      const int pixel = m0 + first_row + r;
      if (pixel >= pixels) break;
      int32_t acc[kRows];
      LE_UNROLL
      for (int k = 0; k < kRows; ++k) {
        acc[k] = filter_ones - 2 * corner[r + k][lane];
        LE_UNROLL
        for (int w = 0; w < MmaSizes<kTile>::kWarpsN; ++w) {
          acc[k] += shared.ones[w][first_row + r + k];
        }
      }
      const int rows = pixels - pixel < kRows ? pixels - pixel : kRows;
      FinishWords(a, pixel, rows, (first_channel + n) / kWarp, lane, inside, acc);
    }
  }
}

template <MmaTile kTile, class Products>
LE_DEVICE void Bconv2dMma(const Bconv2dArgs& a) {
  if constexpr (Products::kAreThere) {
    constexpr int kStageBytes = MmaSizes<kTile>::kStageBytes;
    static_assert(sizeof(MmaOutputs<kTile>) <= MmaSizes<kTile>::kSharedBytes);
    LE_SHARED_DYNAMIC(shared);
    const uint32_t stages = SharedAddress(shared);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % kWarp;
    const int warp = thread / kWarp;

    // Blocks that are neighbours have the same pixels, which then are in the cache.
    const int group_tiles = (a.group_out_channels + kTile.n - 1) / kTile.n;
    const int tiles = a.out_channels / a.group_out_channels * group_tiles;
    const int block = static_cast<int>(blockIdx.x);
    const int tile = block % tiles;
    const int m0 = block / tiles * kTile.m;
    const int group = tile / group_tiles;
    const int n0 = tile % group_tiles * kTile.n;
    const int first_channel = group * a.group_out_channels;

    ImageCopies<kTile> image(a, m0, group * a.tap_words, thread);
    FilterCopies<kTile> filter(a, first_channel + n0, a.group_out_channels - n0, thread);
    const int steps = a.filter_words / MmaTile::kStepWords;
    int next = 0;  // the step to copy
    const auto copy_next = [&] {
      if (next < steps) {
        const uint32_t stage = stages + static_cast<uint32_t>(next % kTile.stages * kStageBytes);
        image.Issue(a, stage);
        filter.Issue(a, stage + kTile.m * kRowBytes);
        ++next;
      }
      CommitCopies();  // a group each step, so that counting them tells which have arrived
    };

    WarpProduct<kTile> product;
    for (int i = 0; i < kTile.stages - 1; ++i) copy_next();
    for (int step = 0; step < steps; ++step) {
      WaitCopies<kTile.stages - 2>();
      __syncthreads();  // everyone's copies are there, and the stage before this one is free
      copy_next();
      product.template Add<Products>(
          stages + static_cast<uint32_t>(step % kTile.stages * kStageBytes),
          warp % MmaSizes<kTile>::kWarpsM, warp / MmaSizes<kTile>::kWarpsM, lane);
    }
    __syncthreads();  // nobody reads the stages any more, and all copies have been waited for
    FinishProduct(a, product, *reinterpret_cast<MmaOutputs<kTile>*>(shared), m0, n0, first_channel);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA_H_
