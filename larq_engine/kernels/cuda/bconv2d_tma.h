// Large plain products of bits on chips of 9.0: what is multiplied lies in the image as it is, so
// that the chip copies it by itself. One warp fetches, two warpgroups multiply, and three warps
// make the output of one part while the next is multiplied:
//
//   fetch     -> full stages ->  multiply  -> sums -> finish
//             <- empty stages <-           <- room <-
//
// Blocks stay, and take one part of the product after the other.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TMA_H_

#include "larq_engine/kernels/cuda/bconv2d_fragments.h"
#include "larq_engine/kernels/cuda/bconv2d_wgmma.h"
#include "larq_engine/kernels/cuda/tma.h"

namespace larq_engine::cuda {

// Shared memory, as addresses in it.
template <TmaTile kTile>
struct TmaMemory {
  static constexpr int kStages = kTile.stages;
  static constexpr uint32_t kOnes =
      static_cast<uint32_t>(kStages * TmaTile::kStageBytes + TmaTile::kSumsBytes);
  static constexpr uint32_t kBarriers = kOnes + TmaTile::kM * 4;
  static_assert(TmaTile::kStageBytes % 1024 == 0 && kBarriers % kBarrierBytes == 0);

  uint32_t base;

  LE_DEVICE uint32_t Stage(int i) const {
    return base + static_cast<uint32_t>(i * TmaTile::kStageBytes);
  }
  LE_DEVICE uint32_t Full(int i) const { return Barrier(i); }
  LE_DEVICE uint32_t Empty(int i) const { return Barrier(kStages + i); }
  LE_DEVICE uint32_t Sums() const { return Barrier(2 * kStages); }
  LE_DEVICE uint32_t Room() const { return Barrier(2 * kStages + 1); }

  LE_DEVICE void MakeBarriers() const {
    constexpr int kWarps = TmaTile::kMultipliers / kWarp;
    LE_UNROLL
    for (int i = 0; i < kStages; ++i) {
      MakeBarrier(Full(i), 1);
      MakeBarrier(Empty(i), kWarps);
    }
    MakeBarrier(Sums(), kWarps);
    MakeBarrier(Room(), TmaTile::kFinishingWarps);
    FenceForProducts();
  }

 private:
  LE_DEVICE uint32_t Barrier(int i) const {
    return base + kBarriers + static_cast<uint32_t>(i * kBarrierBytes);
  }
};

// A warp arrives when all its lanes have come.
LE_DEVICE void ArriveAsWarp(uint32_t barrier, int lane) {
  __syncwarp();
  if (lane == 0) Arrive(barrier);
}

// The stage that is next, and how often it was.
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

// The parts of the product. Those that are under way together have few rows and columns between
// them, which then are in the second cache.
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
    constexpr int kGroup = 16;  // tiles on top of each other
    const int in_group = kGroup * TilesN(a);
    const int first = tile / in_group * kGroup;
    const int left = TilesM(a) - first;
    const int rows = left < kGroup ? left : kGroup;
    const int place = tile % in_group;
    return {(first + place % rows) * TmaTile::kM, place / rows * TmaTile::kN};
  }

  // Calls body(place, number) for all of this block, which count from 0.
  template <class Body>
  LE_DEVICE static void ForEach(const Bconv2dArgs& a, const Body& body) {
    const int tiles = TilesM(a) * TilesN(a);
    uint32_t number = 0;
    LE_NO_UNROLL
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles;
         tile += static_cast<int>(gridDim.x)) {
      body(Of(a, tile), number++);
    }
  }
};

LE_DEVICE int TmaSteps(const Bconv2dArgs& a) {
  return (a.tap_words + TmaTile::kStepWords - 1) / TmaTile::kStepWords;
}

// One thread.
template <TmaTile kTile>
LE_DEVICE void FetchTiles(const Bconv2dTmaArgs& args, const TmaMemory<kTile>& memory) {
  StageTurn<kTile.stages> turn;
  TilePlace::ForEach(args.layer, [&](const TilePlace& place, uint32_t) {
    for (int step = 0; step < TmaSteps(args.layer); ++step) {
      // In the first round the phase before the first has ended.
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

// What MultiplyStep and HalfRowOnes ask of a stage.
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

template <TmaTile kTile>
LE_DEVICE void MultiplyTiles(const Bconv2dArgs& a, const TmaMemory<kTile>& memory,
                             unsigned char* shared, uint32_t* sums, int32_t* row_ones) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarp;
  StageTurn<kTile.stages> turn;
  TilePlace::ForEach(a, [&](const TilePlace&, uint32_t number) {
    int32_t c[TmaTile::kN / 2];
    LE_UNROLL
    for (int i = 0; i < TmaTile::kN / 2; ++i) c[i] = 0;
    int ones = 0;
    int before = 0;  // the stage of the step before
    for (int step = 0; step < TmaSteps(a); ++step) {
      WaitForPhase(memory.Full(turn.stage), turn.round % 2);
      MultiplyStep<TmaStage>(c, memory.Stage(turn.stage), thread);
      ones += HalfRowOnes<TmaStage>(shared + turn.stage * TmaTile::kStageBytes, thread);
      WgmmaWait<1>(c);
      if (step > 0) ArriveAsWarp(memory.Empty(before), lane);
      before = turn.stage;
      turn.Advance();
    }
    WgmmaWait<0>(c);
    ArriveAsWarp(memory.Empty(before), lane);

    ones += __shfl_xor_sync(~0u, ones, 1);
    WaitForPhase(memory.Room(), number % 2 ^ 1);
    if (thread % 2 == 0) row_ones[thread / 2] = ones;
    const int row = thread / kWarp * 16 + lane / 4;
    uint32_t* const first = sums + row * TmaTile::kSumsPitch + lane % 4;
    LE_UNROLL
    for (int i = 0; i < TmaTile::kN / 2; i += 2) {
      first[i / 2 % 2 * 8 * TmaTile::kSumsPitch + i / 4 * 4] =
          static_cast<uint32_t>(c[i]) | static_cast<uint32_t>(c[i + 1]) << 16;
    }
    ArriveAsWarp(memory.Sums(), lane);
  });
}

template <TmaTile kTile>
LE_DEVICE void FinishTiles(const Bconv2dArgs& a, const TmaMemory<kTile>& memory,
                           const uint32_t* sums, const int32_t* row_ones, int warp) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int pixels = a.batch * a.out_height * a.out_width;
  TilePlace::ForEach(a, [&](const TilePlace& place, uint32_t number) {
    WaitForPhase(memory.Sums(), number % 2);
    constexpr int kWords = TmaTile::kN / kWarp;  // of channels
    constexpr int kPixels = 16;                  // at once
    LE_NO_UNROLL
    for (int i = warp; i < TmaTile::kM / kPixels * kWords; i += TmaTile::kFinishingWarps) {
      const int row = i / kWords * kPixels;
      const int word = i % kWords;
      const int pixel = place.m0 + row;
      const int channel = place.n0 + word * kWarp;
      if (pixel >= pixels || channel >= a.out_channels) continue;  // the whole warp
      const bool inside = channel + lane < a.out_channels;
      const int filter_ones = inside ? a.filter_ones[channel + lane] : 0;
      const uint32_t* const own = sums + row * TmaTile::kSumsPitch + word * (kWarp / 2) + lane / 2;
      FinishSums<kPixels, false>(
          a, pixel, pixels, channel, lane, inside, filter_ones,
          [&](int k) {
            return static_cast<int32_t>(own[k * TmaTile::kSumsPitch] >> lane % 2 * 16 & 0xffff);
          },
          [&](int k) { return row_ones[row + k]; });
    }
    ArriveAsWarp(memory.Room(), lane);
  });
}

template <TmaTile kTile>
LE_DEVICE void Bconv2dTma(const Bconv2dTmaArgs& args) {
  if constexpr (kHasWgmma) {
    using Memory = TmaMemory<kTile>;
    LE_SHARED_DYNAMIC(shared);
    const Memory memory{SharedAddress(shared)};
    auto* const sums = reinterpret_cast<uint32_t*>(shared + kTile.stages * TmaTile::kStageBytes);
    auto* const row_ones = reinterpret_cast<int32_t*>(shared + Memory::kOnes);
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) memory.MakeBarriers();
    __syncthreads();
    if (thread < TmaTile::kMultipliers) {
      MultiplyTiles(args.layer, memory, shared, sums, row_ones);
      return;
    }
    const int warp = (thread - TmaTile::kMultipliers) / kWarp;
    if (warp > 0) {
      FinishTiles(args.layer, memory, sums, row_ones, warp - 1);
    } else if (thread % kWarp == 0) {
      FetchTiles(args, memory);
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_TMA_H_
