// Binary convolution of 3x3 taps with stride 1 on tensor cores. A block keeps the filters of its
// channels in shared memory and goes from tile to tile of the images. It copies a tile's pixels and
// its halo once, and all nine taps read them there, where bconv2d_mma.h copies each pixel nine
// times. Meanwhile the pixels of the next tile arrive.
//
// A product is the same in any order of the depth, if pixels and filters have the same order. Lane
// t of four takes the words 2 t and 2 t + 1 of each step: they belong to one tap, and so are
// neighbours in memory on both sides.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_HALO_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_HALO_H_

#include "larq_engine/kernels/cuda/bconv2d_fragments.h"
#include "larq_engine/kernels/cuda/bconv2d_products.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// The layout of shared memory. HaloTile's functions are called for constants only, as nvcc lets no
// device function call a host function, even a constexpr one.
template <HaloTile kTile>
struct HaloMemory {
  static constexpr int kTapWords = kTile.tap_words;
  static constexpr int kSteps = kTile.steps();
  static constexpr int kFilterWords = kTile.filter_words();
  static constexpr int kFilterBytes = kTile.filter_bytes();
  static constexpr int kHaloBytes = kTile.halo_bytes();
  static constexpr int kWarps = HaloTile::kThreads / kWarp;
  static_assert(kTapWords % 2 == 0 && kSteps % 2 == 1);

  struct Outputs {
    EpilogueConstants<HaloTile::kN> constants;
    int32_t pixel_ones[HaloTile::kHaloPixels];
    int32_t ones[HaloTile::kM];
    ExchangeTile exchanges[kWarps];
  };
  static_assert(sizeof(Outputs) == HaloTile::kOutputBytes);

  unsigned char* shared;

  LE_DEVICE const uint32_t* Filter() const { return reinterpret_cast<const uint32_t*>(shared); }
  LE_DEVICE unsigned char* HaloPlace(int which) const {
    return shared + kFilterBytes + which * kHaloBytes;
  }
  LE_DEVICE const uint32_t* Halo(int which) const {
    return reinterpret_cast<const uint32_t*>(HaloPlace(which));
  }
  LE_DEVICE Outputs& outputs() const {
    return *reinterpret_cast<Outputs*>(shared + kFilterBytes + 2 * kHaloBytes);
  }
};

// The first pixel of a tile of the output.
struct HaloPlace {
  int image;
  int y;
  int x;

  LE_DEVICE static HaloPlace Of(const Bconv2dArgs& a, int tile) {
    const int across = (a.out_width + HaloTile::kWidth - 1) / HaloTile::kWidth;
    const int down = (a.out_height + HaloTile::kHeight - 1) / HaloTile::kHeight;
    const int lines = tile / across;
    return {lines / down, lines % down * HaloTile::kHeight, tile % across * HaloTile::kWidth};
  }
};

// Begins to copy a tile's pixels and halo. Pixels outside the image become 0.
template <HaloTile kTile>
LE_DEVICE void CopyHalo(const Bconv2dArgs& a, const HaloPlace& place, unsigned char* to,
                        int thread) {
  constexpr int kPixelBytes = HaloMemory<kTile>::kTapWords * 4;
  const uint32_t address = SharedAddress(to);
  for (int i = thread; i < HaloTile::kHaloPixels; i += HaloTile::kThreads) {
    const int line = i / HaloTile::kHaloWidth;
    const int column = i % HaloTile::kHaloWidth;
    const int y = place.y + line - a.pad_top;
    const int x = place.x + column - a.pad_left;
    const bool is_inside = y >= 0 && y < a.in_height && x >= 0 && x < a.in_width;
    const int offset =
        is_inside ? ((place.image * a.in_height + y) * a.in_width + x) * a.pixel_words : 0;
    const int at = (line * HaloTile::kHaloPitch + column) * kPixelBytes;
    CopyAsync<kPixelBytes>(address + static_cast<uint32_t>(at), a.image + offset,
                           is_inside ? kPixelBytes : 0);
  }
}

// Begins to copy the filters of the channels from n0 on. The words behind the last channel, and
// behind the last tap of a filter, are 0.
template <HaloTile kTile>
LE_DEVICE void CopyFilter(const Bconv2dArgs& a, int n0, unsigned char* to, int thread) {
  constexpr int kParts = HaloMemory<kTile>::kFilterWords / 4;  // pieces of 16 bytes
  const uint32_t address = SharedAddress(to);
  for (int i = thread; i < HaloTile::kN * kParts; i += HaloTile::kThreads) {
    const int channel = n0 + i / kParts;
    const bool is_there = channel < a.out_channels;
    const int64_t row = is_there ? channel : 0;
    CopyAsync<16>(address + static_cast<uint32_t>(i * 16),
                  a.filter + (row * a.filter_words + i % kParts * 4), is_there ? 16 : 0);
  }
}

// Counts the ones of each window of a tile. All threads of the block must call it; they wait for
// each other.
template <HaloTile kTile>
LE_DEVICE void CountOnes(const uint32_t* halo, typename HaloMemory<kTile>::Outputs& outputs,
                         int thread) {
  constexpr int kTapWords = HaloMemory<kTile>::kTapWords;
  for (int i = thread; i < HaloTile::kHaloPixels; i += HaloTile::kThreads) {
    const int line = i / HaloTile::kHaloWidth;
    const int column = i % HaloTile::kHaloWidth;
    const uint32_t* const words = halo + (line * HaloTile::kHaloPitch + column) * kTapWords;
    int ones = 0;
    LE_UNROLL
    for (int w = 0; w < kTapWords; ++w) ones += __popc(words[w]);
    outputs.pixel_ones[i] = ones;
  }
  __syncthreads();
  static_assert(HaloTile::kThreads == HaloTile::kM);
  const int first = thread / HaloTile::kWidth * HaloTile::kHaloWidth + thread % HaloTile::kWidth;
  int ones = 0;
  LE_UNROLL
  for (int tap = 0; tap < HaloTile::kTaps; ++tap) {
    ones += outputs.pixel_ones[first + tap / 3 * HaloTile::kHaloWidth + tap % 3];
  }
  outputs.ones[thread] = ones;
  __syncthreads();
}

// A warp's part of the product: two lines of 16 pixels, and all channels of the tile.
template <HaloTile kTile>
struct HaloProduct {
  using Memory = HaloMemory<kTile>;
  static constexpr int kLines = 2;
  static constexpr int kFragmentsN = HaloTile::kN / 8;

  // Offsets of the words that the lane takes in each step, from the window's first pixel on.
  int taps[Memory::kSteps];

  LE_DEVICE explicit HaloProduct(int lane) {
    LE_UNROLL
    for (int step = 0; step < Memory::kSteps; ++step) {
      const int word = step * HaloTile::kStepWords + lane % 4 * 2;
      // Filters are 0 behind the last tap, so that any pixel will do there.
      const int last = HaloTile::kTaps * Memory::kTapWords - 2;
      const int inside = word < last ? word : last;
      const int tap = inside / Memory::kTapWords;
      taps[step] = (tap / 3 * HaloTile::kHaloPitch + tap % 3) * Memory::kTapWords +
                   inside % Memory::kTapWords;
    }
  }

  LE_DEVICE void Multiply(const Memory& memory, int which, int warp, int lane,
                          FragmentC (&c)[kLines][kFragmentsN]) const {
    using Words = LoadedWords<2>;
    const int g = lane / 4;
    const uint32_t* const pixels =
        memory.Halo(which) + (kLines * warp * HaloTile::kHaloPitch + g) * Memory::kTapWords;
    const uint32_t* const channels = memory.Filter() + g * Memory::kFilterWords + lane % 4 * 2;
    LE_UNROLL
    for (int step = 0; step < Memory::kSteps; ++step) {
      FragmentA rows[kLines];
      LE_UNROLL
      for (int i = 0; i < kLines; ++i) {
        LE_UNROLL
        for (int h = 0; h < 2; ++h) {  // pixels g and g + 8
          const int pixel = i * HaloTile::kHaloPitch + 8 * h;
          const auto words =
              *reinterpret_cast<const Words*>(pixels + (taps[step] + pixel * Memory::kTapWords));
          rows[i].r[h] = words.w[0];
          rows[i].r[h + 2] = words.w[1];
        }
      }
      LE_UNROLL
      for (int j = 0; j < kFragmentsN; j += 2) {
        uint32_t columns[4];
        LE_UNROLL
        for (int k = 0; k < 2; ++k) {
          const auto words = *reinterpret_cast<const Words*>(
              channels + (8 * (j + k) * Memory::kFilterWords + step * HaloTile::kStepWords));
          columns[2 * k] = words.w[0];
          columns[2 * k + 1] = words.w[1];
        }
        BitProducts::Add(c, j, rows, columns);
      }
    }
  }
};

// The pixels of a tile: each 16 rows of the block are one line of it.
struct HaloRows {
  int first;  // the tile's first output pixel
  int lines;  // of the tile, inside the output
  int columns;
  int out_width;

  LE_DEVICE HaloRows(const Bconv2dArgs& a, const HaloPlace& place)
      : first((place.image * a.out_height + place.y) * a.out_width + place.x),
        lines(a.out_height - place.y),
        columns(a.out_width - place.x),
        out_width(a.out_width) {}
  LE_DEVICE PixelRun operator()(int row) const {
    const int line = row / HaloTile::kWidth;
    const int pixel = first + line * out_width;
    return {pixel, line < lines ? pixel + columns : pixel};
  }
};

template <HaloTile kTile>
LE_DEVICE void Bconv2dHalo(const Bconv2dArgs& a) {
  if constexpr (BitProducts::kAreThere) {
    using Product = HaloProduct<kTile>;
    LE_SHARED_DYNAMIC(shared);
    const HaloMemory<kTile> memory{shared};
    auto& outputs = memory.outputs();
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % kWarp;
    const int warp = thread / kWarp;

    // The host launches the same number of blocks for each tile of channels.
    const int channel_tiles = (a.out_channels + HaloTile::kN - 1) / HaloTile::kN;
    const int block = static_cast<int>(blockIdx.x);
    const int n0 = block % channel_tiles * HaloTile::kN;
    const int blocks = static_cast<int>(gridDim.x) / channel_tiles;
    const int tiles = a.batch * ((a.out_height + HaloTile::kHeight - 1) / HaloTile::kHeight) *
                      ((a.out_width + HaloTile::kWidth - 1) / HaloTile::kWidth);

    const Product product(lane);
    int tile = block / channel_tiles;
    HaloPlace place = HaloPlace::Of(a, tile);
    CopyFilter<kTile>(a, n0, shared, thread);
    if (FinishesInRegisters(a)) {
      decltype(outputs.constants)::template Copy<HaloTile::kThreads>(
          a, SharedAddress(&outputs.constants), n0, a.out_channels - n0, thread);
    }
    CopyHalo<kTile>(a, place, memory.HaloPlace(0), thread);
    CommitCopies();
    for (int which = 0; tile < tiles; which = 1 - which) {
      const int next = tile + blocks;
      const HaloPlace next_place = HaloPlace::Of(a, next);
      if (next < tiles) CopyHalo<kTile>(a, next_place, memory.HaloPlace(1 - which), thread);
      CommitCopies();
      WaitCopies<1>();  // all but the next tile's
      __syncthreads();  // everyone's copies are there, and the last tile's ones have been read
      FragmentC c[Product::kLines][Product::kFragmentsN] = {};
      product.Multiply(memory, which, warp, lane, c);
      // No thread reads this halo after the call, so that the tile after the next one may overwrite
      // it.
      CountOnes<kTile>(memory.Halo(which), outputs, thread);
      FinishFragments<Product::kLines, Product::kFragmentsN>(
          a, {0, 0, 0, n0}, Product::kLines * warp * HaloTile::kWidth, 0, outputs.constants,
          outputs.exchanges[warp], HaloRows(a, place),
          [&](int i, int j, int e) { return c[i][j].r[e]; },
          [&](int row) { return outputs.ones[row]; });
      tile = next;
      place = next_place;
    }
    WaitCopies<0>();
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_HALO_H_
