// Binary convolution on tensor cores, as a product of matrices that are never stored (implicit
// im2col): rows are output pixels, columns output channels, and the depth runs over the taps and
// the words of each tap.
//
//   ones(p xor f) = ones(p) + ones(f) - 2 ones(p and f)
//
// Taps outside the image are zeros, which add nothing to either side; see Bconv2dOutput. A block
// goes through the depth in steps of 16 words. Asynchronous copies bring the rows of the next few
// steps into stages of shared memory. Each pair of bit planes is one pass through the depth; the
// passes follow one another.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA_H_

#include "larq_engine/kernels/cuda/bconv2d_fragments.h"
#include "larq_engine/kernels/cuda/bconv2d_products.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// The sizes of a stage. They are constants, as nvcc lets no device function call a host function,
// even a constexpr one.
template <MmaTile kTile>
struct MmaStage {
  static constexpr int kM = kTile.m;
  static constexpr int kN = kTile.n;
  static constexpr int kCopyWords = kTile.copy_words;
  static constexpr int kStepWords = MmaTile::kStepWords;
  static constexpr int kRowBytes = kStepWords * 4;
  static constexpr int kThreads = kTile.threads();
  static constexpr int kWarpsM = kTile.warps_m();
  static constexpr int kWarpsN = kTile.warps_n();
  static constexpr int kSharedBytes = kTile.shared_bytes();
  static constexpr int kStageBytes = kSharedBytes / kTile.stages;

  // Returns the offset of a 16-byte part of a row. The 8 rows that ldmatrix reads at once are in
  // different banks: two rows fill all banks once, and each next pair is shifted by one part.
  LE_DEVICE static uint32_t RowPart(int row, int part) {
    return static_cast<uint32_t>(row * kRowBytes + ((part ^ row / 2) & 3) * 16);
  }
};

// A warp's part of the product.
template <MmaTile kTile>
struct WarpProduct {
  static constexpr int kFragmentsM = kTile.warp_m / 16;
  static constexpr int kFragmentsN = kTile.warp_n / 8;
  // The warps that share rows take turns at counting the ones of these rows.
  static_assert(MmaStage<kTile>::kWarpsN == 1 || MmaStage<kTile>::kWarpsN == 2);

  FragmentC c[kFragmentsM][kFragmentsN];
  int ones[kFragmentsM][2];  // in this lane's words of rows g and g + 8 of a fragment

  LE_DEVICE WarpProduct() {
    LE_UNROLL
    for (int i = 0; i < kFragmentsM; ++i) {
      ones[i][0] = ones[i][1] = 0;
      LE_UNROLL
      for (int j = 0; j < kFragmentsN; ++j) c[i][j] = {};
    }
  }

  LE_DEVICE void DoubleAll() {
    Double(c);
    LE_UNROLL
    for (int i = 0; i < kFragmentsM; ++i) {
      ones[i][0] *= 2;
      ones[i][1] *= 2;
    }
  }

  // Adds the products of a step, whose rows are in a stage: first those of pixels, then of
  // channels.
  template <class Products>
  LE_DEVICE void Add(uint32_t stage, int warp_m, int warp_n, int lane) {
    LE_UNROLL
    for (int half = 0; half < 2; ++half) {
      FragmentA a[kFragmentsM];
      LE_UNROLL
      for (int i = 0; i < kFragmentsM; ++i) {
        // The four matrices are rows 0-7 and 8-15 of the low 128 bits, then of the high ones.
        const int row = warp_m * kTile.warp_m + 16 * i + lane % 16;
        LoadMatrix4(a[i].r, stage + MmaStage<kTile>::RowPart(row, 2 * half + lane / 16));
      }
      if (half % MmaStage<kTile>::kWarpsN == warp_n % MmaStage<kTile>::kWarpsN) {
        LE_UNROLL
        for (int i = 0; i < kFragmentsM; ++i) {
          ones[i][0] += __popc(a[i].r[0]) + __popc(a[i].r[2]);
          ones[i][1] += __popc(a[i].r[1]) + __popc(a[i].r[3]);
        }
      }
      LE_UNROLL
      for (int j = 0; j < kFragmentsN; j += 2) {
        // The four matrices are the low and high 128 bits of columns 0-7, then of columns 8-15.
        const int row = kTile.m + warp_n * kTile.warp_n + 8 * j + lane / 16 * 8 + lane % 8;
        uint32_t r[4];
        LoadMatrix4(r, stage + MmaStage<kTile>::RowPart(row, 2 * half + lane / 8 % 2));
        Products::Add(c, j, a, r);
      }
    }
  }
};

// The layout of shared memory after the product.
template <MmaTile kTile>
struct MmaOutputs {
  int32_t ones[MmaStage<kTile>::kWarpsN][kTile.m];
  ExchangeTile exchanges[MmaStage<kTile>::kWarpsM * MmaStage<kTile>::kWarpsN];
};

// Returns the offset of the epilogue's constants. They are in the stage behind that of the last
// step: all else that a lane needs when it reads them is at the beginning of stage 0.
template <MmaTile kTile>
LE_DEVICE int ConstantsPlace(int steps) {
  using Constants = EpilogueConstants<kTile.n>;
  constexpr int kStageBytes = MmaStage<kTile>::kStageBytes;
  static_assert(sizeof(MmaOutputs<kTile>::ones) + sizeof(Constants) <= kStageBytes);
  return (steps % kTile.stages + 1) * kStageBytes - static_cast<int>(sizeof(Constants));
}

template <MmaTile kTile>
LE_DEVICE void FinishProduct(const Bconv2dArgs& a, const WarpProduct<kTile>& product,
                             MmaOutputs<kTile>& shared, const EpilogueConstants<kTile.n>& constants,
                             const BlockPlace& block) {
  using Product = WarpProduct<kTile>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int warp_m = warp % MmaStage<kTile>::kWarpsM;
  const int warp_n = warp / MmaStage<kTile>::kWarpsM;
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
  FinishFragments<Product::kFragmentsM, Product::kFragmentsN>(
      a, block, warp_m * kTile.warp_m, warp_n * kTile.warp_n, constants, shared.exchanges[warp],
      RowsInOrder(a, block), [&](int i, int j, int e) { return product.c[i][j].r[e]; },
      [&](int row) {
        int ones = 0;
        LE_UNROLL
        for (int w = 0; w < MmaStage<kTile>::kWarpsN; ++w) ones += shared.ones[w][row];
        return ones;
      });
}

template <MmaTile kTile, class Products>
LE_DEVICE void Bconv2dMma(const Bconv2dArgs& a) {
  if constexpr (Products::kAreThere) {
    using Stage = MmaStage<kTile>;
    static_assert(sizeof(MmaOutputs<kTile>) <= Stage::kSharedBytes);
    LE_SHARED_DYNAMIC(shared);
    const uint32_t stages = SharedAddress(shared);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % kWarp;
    const int warp = thread / kWarp;

    const BlockPlace block = BlockPlace::Of<Stage>(a, static_cast<int>(blockIdx.x));
    const int steps = a.filter_words / MmaTile::kStepWords;
    WarpProduct<kTile> product;
    PlanePair pair{0, 0};
    if constexpr (kTile.has_planes) pair = PlanePair::First(a);
    while (pair.IsThere()) {
      ImageCopies<Stage> image(a, block, pair, thread);
      FilterCopies<Stage> filter(a, block, pair, thread);
      int next = 0;  // the step to copy
      const auto copy_next = [&] {
        if (next < steps) {
          const uint32_t stage =
              stages + static_cast<uint32_t>(next % kTile.stages * Stage::kStageBytes);
          image.Issue(a, stage);
          filter.Issue(a, stage + kTile.m * Stage::kRowBytes);
        } else if (next == steps && pair.IsLast()) {
          FetchForEpilogue<kTile.m, kTile.n, Stage::kThreads>(
              a, block, stages + static_cast<uint32_t>(ConstantsPlace<kTile>(steps)), thread);
        }
        ++next;
        CommitCopies();  // a group for each step, so that WaitCopies counts steps
      };

      for (int i = 0; i < kTile.stages - 1; ++i) copy_next();
      for (int step = 0; step < steps; ++step) {
        WaitCopies<kTile.stages - 2>();
        __syncthreads();  // everyone's copies are there, and the stage before this one is free
        copy_next();
        product.template Add<Products>(
            stages + static_cast<uint32_t>(step % kTile.stages * Stage::kStageBytes),
            warp % Stage::kWarpsM, warp / Stage::kWarpsM, lane);
      }
      WaitCopies<0>();  // for the epilogue
      __syncthreads();  // nobody reads the stages any more
      if constexpr (!kTile.has_planes) break;
      if (pair.Advance(a)) product.DoubleAll();
    }
    FinishProduct(
        a, product, *reinterpret_cast<MmaOutputs<kTile>*>(shared),
        *reinterpret_cast<const EpilogueConstants<kTile.n>*>(shared + ConstantsPlace<kTile>(steps)),
        block);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA_H_
