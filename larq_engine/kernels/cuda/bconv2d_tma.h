// Large products of bits on compute capability 9.0, where the rows of the product lie in the image
// as they are, so that the chip copies them by tensor maps (TMA). Two warpgroups multiply and make
// the output. One thread of a third warpgroup fetches, several steps ahead, also while the output
// is made:
//
//   fetch  -> full stages ->  multiply
//          <- empty stages <-
//
// The blocks are persistent: each computes one tile of the product after the other.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TMA_H_

#include "larq_engine/kernels/cuda/bconv2d_fragments.h"
#include "larq_engine/kernels/cuda/bconv2d_held.h"
#include "larq_engine/kernels/cuda/bconv2d_wgmma.h"
#include "larq_engine/kernels/cuda/tma.h"

namespace larq_engine::cuda {

// The layout of shared memory, as addresses in it.
template <TmaTile kTile>
struct TmaMemory {
  static constexpr int kStages = kTile.stages;
  static constexpr uint32_t kOutputs = static_cast<uint32_t>(kStages * TmaTile::kStageBytes);
  static constexpr uint32_t kBarriers = kOutputs + TmaTile::kOutputBytes;
  static_assert(TmaTile::kStageBytes % 1024 == 0 && kBarriers % kBarrierBytes == 0);

  uint32_t base;

  LE_DEVICE uint32_t Stage(int i) const {
    return base + static_cast<uint32_t>(i * TmaTile::kStageBytes);
  }
  LE_DEVICE uint32_t Full(int i) const { return Barrier(i); }
  LE_DEVICE uint32_t Empty(int i) const { return Barrier(kStages + i); }

  LE_DEVICE void MakeBarriers() const {
    constexpr int kWarps = TmaTile::kMultipliers / kWarp;
    LE_UNROLL
    for (int i = 0; i < kStages; ++i) {
      MakeBarrier(Full(i), 1);
      MakeBarrier(Empty(i), kWarps);
    }
    FenceForProducts();
  }

 private:
  LE_DEVICE uint32_t Barrier(int i) const {
    return base + kBarriers + static_cast<uint32_t>(i * kBarrierBytes);
  }
};

// Arrives at a barrier for the whole warp, once all of its lanes have come here.
LE_DEVICE void ArriveAsWarp(uint32_t barrier, int lane) {
  __syncwarp();
  if (lane == 0) Arrive(barrier);
}

// The next stage, and the number of times that the ring of stages was used up before.
template <int kStages>
struct StageTurn {
  int stage = 0;
  uint32_t round = 0;

  LE_DEVICE void Advance() {
    if (++stage < kStages) return;
    stage = 0;
    ++round;
  }
};

// A tile of the product. Tiles that are computed at the same time share few rows and columns, which
// the L2 cache then holds.
struct TilePlace {
  int m0;  // the first pixel
  int n0;  // the first channel

  LE_DEVICE static int TilesM(const Bconv2dArgs& a) {
    return (a.batch * a.out_height * a.out_width + TmaTile::kM - 1) / TmaTile::kM;
  }
  LE_DEVICE static int TilesN(const Bconv2dArgs& a) {
    return (a.out_channels + TmaTile::kN - 1) / TmaTile::kN;
  }
  LE_DEVICE static TilePlace Of(const Bconv2dArgs& a, int tile) {
    constexpr int kGroup = 16;  // tiles of a column that follow one another
    const int in_group = kGroup * TilesN(a);
    const int first = tile / in_group * kGroup;
    const int left = TilesM(a) - first;
    const int rows = left < kGroup ? left : kGroup;
    const int place = tile % in_group;
    return {(first + place % rows) * TmaTile::kM, place / rows * TmaTile::kN};
  }

  // Calls body(tile) for all tiles of this block.
  template <class Body>
  LE_DEVICE static void ForEach(const Bconv2dArgs& a, const Body& body) {
    const int tiles = TilesM(a) * TilesN(a);
    LE_NO_UNROLL
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles;
         tile += static_cast<int>(gridDim.x)) {
      body(tile);
    }
  }
};

LE_DEVICE int TmaSteps(const Bconv2dArgs& a) {
  return (a.tap_words + TmaTile::kStepWords - 1) / TmaTile::kStepWords;
}

// Fetches the stages of all tiles of the block. One thread calls it.
template <TmaTile kTile>
LE_DEVICE void FetchTiles(const Bconv2dTmaArgs& args, const TmaMemory<kTile>& memory) {
  StageTurn<kTile.stages> turn;
  TilePlace::ForEach(args.layer, [&](int tile) {
    const TilePlace place = TilePlace::Of(args.layer, tile);
    for (int step = 0; step < TmaSteps(args.layer); ++step) {
      // In the first round the stages are empty: the phase before a barrier's first counts as
      // ended.
      WaitForPhase(memory.Empty(turn.stage), turn.round % 2 ^ 1);
      const uint32_t full = memory.Full(turn.stage);
      const uint32_t stage = memory.Stage(turn.stage);
      ArriveAndExpect(full, TmaTile::kStageBytes);
      const int word = step * TmaTile::kStepWords;
      CopyBox(stage, args.image, word, place.m0, full);
      CopyBox(stage + TmaTile::kM * TmaTile::kStepWords * 4, args.filter, word, place.n0, full);
      turn.Advance();
    }
  });
}

// The sizes of a stage that MultiplyStep and HalfRowOnes need.
struct TmaStage {
  static constexpr int kM = TmaTile::kM;
  static constexpr int kN = TmaTile::kN;
  static constexpr int kStepWords = TmaTile::kStepWords;
  static constexpr int kRowBytes = kStepWords * 4;
  static constexpr int kThreads = TmaTile::kMultipliers;

  LE_DEVICE static uint32_t RowPart(int row, int part) {
    return static_cast<uint32_t>(row * kRowBytes + ((part ^ row) & 7) * 16);
  }
};

// Shared memory besides the stages. Each warp copies its own constants, so that it need not wait
// for another.
struct TmaOutputs {
  union OfWarp {
    ExchangeTile exchange;
    EpilogueConstants<TmaTile::kN> constants;
  };
  int32_t ones[TmaTile::kM];
  OfWarp warps[TmaTile::kMultipliers / kWarp];
};
static_assert(sizeof(TmaOutputs) == TmaTile::kOutputBytes);

// Fetches the inputs of a warp's epilogue: its own copy of the constants, and the residual of its
// 16 pixels.
LE_DEVICE void FetchForWarp(const Bconv2dArgs& a, const BlockPlace& block, uint32_t to, int warp,
                            int lane) {
  const BlockPlace own{block.m0 + 16 * warp, block.group, block.first_channel, block.n0};
  FetchForEpilogue<16, TmaTile::kN, kWarp>(a, own, to, lane);
  CommitCopies();
}

// Multiplies all tiles of the block and makes their output. If the output is bits by thresholds, a
// tile's sums are held, and become bits behind the first products of the next tile, so that tensor
// cores wait little between two tiles. Any other output is made at once, as making it takes more
// registers than held sums leave.
template <TmaTile kTile>
LE_DEVICE void MultiplyTiles(const Bconv2dArgs& a, const TmaMemory<kTile>& memory,
                             unsigned char* shared) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarp;
  const int warp = thread / kWarp;
  auto& outputs = *reinterpret_cast<TmaOutputs*>(shared + TmaMemory<kTile>::kOutputs);
  TmaOutputs::OfWarp& own = outputs.warps[warp];
  const auto row_ones = [&](int row) { return outputs.ones[row]; };
  const int steps = TmaSteps(a);
  // The epilogue runs while the products of two steps are under way, if there are two.
  const int epilogue_step = steps > 1 ? 1 : 0;
  const bool can_hold = HeldSums<TmaTile::kN>::CanHold(a);
  HeldSums<TmaTile::kN> held;
  StageTurn<kTile.stages> turn;
  TilePlace::ForEach(a, [&](int tile) {
    BlockPlace block{};
    int32_t c[TmaTile::kN / 2];
    int ones = 0;
    int before = 0;  // the stage of the previous step
    for (int step = 0; step < steps; ++step) {
      WaitForPhase(memory.Full(turn.stage), turn.round % 2);
      MultiplyStep<TmaStage>(c, memory.Stage(turn.stage), step, thread);
      if (step == epilogue_step) {
        held.Finish(a, warp * 16, own.constants, row_ones);
        const TilePlace place = TilePlace::Of(a, tile);
        block = {place.m0, 0, 0, place.n0};
        __syncwarp();  // all lanes have read the constants of the previous tile
        FetchForWarp(a, block, SharedAddress(&own.constants), warp, lane);
      }
      ones += HalfRowOnes<TmaStage>(shared + turn.stage * TmaTile::kStageBytes, thread);
      WgmmaWait<1>(c);
      if (step > 0) ArriveAsWarp(memory.Empty(before), lane);
      before = turn.stage;
      turn.Advance();
    }
    WgmmaWait<0>(c);
    ArriveAsWarp(memory.Empty(before), lane);
    WaitCopies<0>();  // for the epilogue

    // A warp counts the ones of its own rows, and reads no others. Its lanes have read those of the
    // previous tile when the warp arrives above.
    ones += __shfl_xor_sync(~0u, ones, 1);
    if (thread % 2 == 0) outputs.ones[thread / 2] = ones;
    __syncwarp();
    if (can_hold) {
      held.Take(block, c);
      return;
    }
    held = {};  // otherwise the compiler keeps its registers
    const auto value = [&](int, int j, int e) { return c[4 * j + e]; };
    if (FinishesInRegisters(a) && a.output.epilogue != Bconv2dOutput::kThreshold) {
      FinishFloats<1, TmaTile::kN / 8, /*kMayBeOutside=*/false>(
          a, block, warp * 16, 0, own.constants, RowsInOrder(a, block), value, row_ones);
    } else {
      FinishByExchange<1, TmaTile::kN / 8, /*kMayBeOutside=*/false>(
          a, block, warp * 16, 0, own.exchange, RowsInOrder(a, block), value, row_ones);
    }
  });
  held.Finish(a, warp * 16, own.constants, row_ones);
}

template <TmaTile kTile>
LE_DEVICE void Bconv2dTma(const Bconv2dTmaArgs& args) {
  if constexpr (kHasWgmma) {
    using Memory = TmaMemory<kTile>;
    LE_SHARED_DYNAMIC(shared);
    const Memory memory{SharedAddress(shared)};
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) memory.MakeBarriers();
    __syncthreads();
    if (thread < TmaTile::kMultipliers) {
      TakeRegisters<TmaTile::kMultipliersRegisters>();
      MultiplyTiles(args.layer, memory, shared);
    } else {
      GiveRegisters<TmaTile::kFetchersRegisters>();
      if (thread == TmaTile::kMultipliers) FetchTiles(args, memory);
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TMA_H_
