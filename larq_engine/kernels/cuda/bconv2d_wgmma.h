// Binary convolution on the tensor cores of compute capability 9.0, for large products. It works as
// in bconv2d_mma.h, but warpgroups multiply the matrices straight from shared memory, while their
// threads copy the rows of later steps and count the ones of this step.
//
// Asynchronous copies gather the rows, as in bconv2d_mma.h, so that any convolution is possible. In
// bconv2d_tma.h the chip copies rows that need no gathering.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_WGMMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_WGMMA_H_

#include "larq_engine/kernels/cuda/bconv2d_fragments.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"
#include "larq_engine/kernels/cuda/wgmma.h"

namespace larq_engine::cuda {

template <WgmmaTile kTile>
struct WgmmaStage {
  static constexpr int kM = WgmmaTile::kM;
  static constexpr int kN = kTile.n;
  static constexpr int kCopyWords = WgmmaTile::kCopyWords;
  static constexpr int kStepWords = WgmmaTile::kStepWords;
  static constexpr int kRowBytes = kStepWords * 4;
  static constexpr int kThreads = WgmmaTile::kThreads;
  static constexpr int kSharedBytes = kTile.shared_bytes();
  static constexpr int kStageBytes = kSharedBytes / kTile.stages;

  // Returns the offset of a 16-byte part of a row, in the layout of RowsDescriptor.
  LE_DEVICE static uint32_t RowPart(int row, int part) {
    return static_cast<uint32_t>(row * kRowBytes + ((part ^ row) & 7) * 16);
  }
};

// Issues the products of a step, of the warpgroup's 64 rows and all columns, as one group. The
// first step's products replace `c`, and those of the others are added to it.
template <class Stage>
LE_DEVICE void MultiplyStep(int32_t (&c)[Stage::kN / 2], uint32_t stage, int step, int thread) {
  const uint64_t rows =
      RowsDescriptor(stage + static_cast<uint32_t>(thread / kWarpgroup * 64 * Stage::kRowBytes));
  const uint64_t columns = RowsDescriptor(stage + Stage::kM * Stage::kRowBytes);
  WgmmaFence(c);
  LE_UNROLL
  for (int k = 0; k < Stage::kStepWords / 8; ++k) {
    const uint64_t at = static_cast<uint64_t>(k) * 32 / 16;  // advances by 256 bits
    WgmmaAnd<Stage::kN>(c, rows + at, columns + at, /*adds=*/k > 0 || step > 0);
  }
  WgmmaCommit();
}

// Returns the ones in half a pixel's row: two threads count a row.
template <class Stage>
LE_DEVICE int HalfRowOnes(const unsigned char* stage, int thread) {
  static_assert(Stage::kThreads == 2 * Stage::kM);
  constexpr int kParts = Stage::kRowBytes / 16 / 2;
  int ones = 0;
  LE_UNROLL
  for (int i = 0; i < kParts; ++i) {
    const auto part = *reinterpret_cast<const LoadedWords<4>*>(
        stage + Stage::RowPart(thread / 2, thread % 2 * kParts + i));
    LE_UNROLL
    for (const uint32_t word : part.w) ones += __popc(word);
  }
  return ones;
}

// The layout of shared memory after the product.
template <WgmmaTile kTile>
struct WgmmaOutputs {
  int32_t ones[WgmmaTile::kM];
  ExchangeTile exchanges[WgmmaTile::kThreads / kWarp];
};

template <WgmmaTile kTile>
LE_DEVICE void Bconv2dWgmma(const Bconv2dArgs& a) {
  if constexpr (kHasWgmma) {
    using Stage = WgmmaStage<kTile>;
    using Outputs = WgmmaOutputs<kTile>;
    static_assert(sizeof(Outputs) <= Stage::kSharedBytes && Stage::kStageBytes % 1024 == 0);
    LE_SHARED_DYNAMIC(shared);
    const uint32_t stages = SharedAddress(shared);
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / kWarp;

    const BlockPlace block = BlockPlace::Of<Stage>(a, static_cast<int>(blockIdx.x));
    ImageCopies<Stage> image(a, block, {0, 0}, thread);
    FilterCopies<Stage> filter(a, block, {0, 0}, thread);
    const int steps = (a.filter_words + Stage::kStepWords - 1) / Stage::kStepWords;
    // The constants are at the end of the stage behind that of the last step, and so behind the
    // ones, even if that is stage 0.
    using Constants = EpilogueConstants<Stage::kN>;
    static_assert(sizeof(Outputs::ones) + sizeof(Constants) <= Stage::kStageBytes);
    const int constants_place =
        (steps % kTile.stages + 1) * Stage::kStageBytes - static_cast<int>(sizeof(Constants));
    int next = 0;  // the step to copy
    const auto copy_next = [&] {
      if (next < steps) {
        const uint32_t stage =
            stages + static_cast<uint32_t>(next % kTile.stages * Stage::kStageBytes);
        image.Issue(a, stage);
        filter.Issue(a, stage + Stage::kM * Stage::kRowBytes);
      } else if (next == steps) {
        FetchForEpilogue<Stage::kM, Stage::kN, Stage::kThreads>(
            a, block, stages + static_cast<uint32_t>(constants_place), thread);
      }
      ++next;
      CommitCopies();  // a group for each step, so that WaitCopies counts steps
    };

    int32_t c[kTile.n / 2];
    int ones = 0;
    // While a step is multiplied, the products of the step before may still run, so that two stages
    // are in use.
    for (int i = 0; i < kTile.stages - 2; ++i) copy_next();
    for (int step = 0; step < steps; ++step) {
      WaitCopies<kTile.stages - 3>();
      FenceForProducts();
      __syncthreads();  // everyone's copies are there, and the step before the last is multiplied
      const int offset = step % kTile.stages * Stage::kStageBytes;
      MultiplyStep<Stage>(c, stages + static_cast<uint32_t>(offset), step, thread);
      copy_next();
      ones += HalfRowOnes<Stage>(shared + offset, thread);
      WgmmaWait<1>(c);
    }
    WgmmaWait<0>(c);
    WaitCopies<0>();  // for the epilogue
    __syncthreads();  // nobody reads the stages any more

    auto& outputs = *reinterpret_cast<Outputs*>(shared);
    ones += __shfl_xor_sync(~0u, ones, 1);
    if (thread % 2 == 0) outputs.ones[thread / 2] = ones;
    __syncthreads();
    FinishFragments<1, kTile.n / 8>(
        a, block, warp * 16, 0, *reinterpret_cast<const Constants*>(shared + constants_place),
        outputs.exchanges[warp], RowsInOrder(a, block),
        [&](int, int j, int e) { return c[4 * j + e]; },
        [&](int row) { return outputs.ones[row]; });
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_WGMMA_H_
