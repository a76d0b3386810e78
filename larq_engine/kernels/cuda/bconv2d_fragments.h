// Makes a convolution's output from the fragments of a product, as tensor cores leave them in
// registers.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_

#include "larq_engine/kernels/cuda/bconv2d_epilogue_bits.h"
#include "larq_engine/kernels/cuda/bconv2d_epilogue_exchange.h"
#include "larq_engine/kernels/cuda/bconv2d_epilogue_floats.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"

namespace larq_engine::cuda {

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

// Calls body(Constant<i>) after a binary search over i: only constants can index registers.
template <int kFirst, int kEnd, class Body>
LE_DEVICE void CallWithConstant(int i, const Body& body) {
  if constexpr (kEnd - kFirst == 1) {
    body(Constant<kFirst>{});
  } else {
    constexpr int kMiddle = (kFirst + kEnd) / 2;
    if (i < kMiddle) {
      CallWithConstant<kFirst, kMiddle>(i, body);
    } else {
      CallWithConstant<kMiddle, kEnd>(i, body);
    }
  }
}

// The pixels of a block's rows, where each row is the output pixel after the row before.
struct RowsInOrder {
  int m0;
  int pixels;

  LE_DEVICE RowsInOrder(const Bconv2dArgs& a, const BlockPlace& block)
      : m0(block.m0), pixels(a.batch * a.out_height * a.out_width) {}
  LE_DEVICE PixelRun operator()(int row) const { return {m0 + row, pixels}; }
};

// Two neighbouring fragments of a warp, 16 rows and 16 columns, which are finished together.
template <int kFragmentsM, int kFragmentsN>
struct FragmentChunk {
  static_assert(kFragmentsN % 4 == 0);  // a warp has whole words of channels
  static constexpr int kPairs = kFragmentsN / 2;

  int32_t sums[kLaneSums];  // has register e of fragment j at 4 j + e
  int half;                 // of the word of channels: 0 or 1
  int n;                    // the word's first channel in the group
  int channel;              // the same among all channels
  int column;               // the word's first column in the block
  int row;                  // the first row in the block
  PixelRun pixels;

  // Calls finish(chunk) for all fragments of a warp, with arguments as for FinishFragments. The
  // loop keeps one copy of finish's code: unrolled, it would not fit into the instruction cache.
  template <class Rows, class Value, class Finish>
  LE_DEVICE static void ForEach(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                                const Rows& rows, const Value& value, const Finish& finish) {
    LE_NO_UNROLL
    for (int chunk = 0; chunk < kFragmentsM * kPairs; ++chunk) {
      FragmentChunk c;
      CallWithConstant<0, kFragmentsM * kPairs>(chunk, [&](auto constant) {
        constexpr int kChunk = decltype(constant)::value;
        LE_UNROLL
        for (int e = 0; e < kLaneSums; ++e) {
          c.sums[e] = value(kChunk / kPairs, 2 * (kChunk % kPairs) + e / 4, e % 4);
        }
      });
      c.half = chunk % 2;
      c.column = column + chunk % kPairs / 2 * kWarp;
      c.n = block.n0 + c.column;
      c.channel = block.first_channel + c.n;
      c.row = row + chunk / kPairs * 16;
      c.pixels = rows(c.row);
      // The condition is the same for all lanes of the warp.
      if (c.n >= a.group_out_channels || c.pixels.first >= c.pixels.end) continue;
      finish(c);
    }
  }
};

// Makes floats, for groups of whole words of channels. Unless kMayBeOutside, all taps are inside
// the image; FinishByExchange has the same parameter.
template <int kFragmentsM, int kFragmentsN, bool kMayBeOutside, int kN, class Rows, class Value,
          class Ones>
LE_DEVICE void FinishFloats(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                            const EpilogueConstants<kN>& constants, const Rows& rows,
                            const Value& value, const Ones& ones) {
  using Chunk = FragmentChunk<kFragmentsM, kFragmentsN>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int lane_row = lane / 4;
  uint32_t low_bits[kLaneRows] = {};
  Chunk::ForEach(a, block, row, column, rows, value, [&](const Chunk& c) {
    const int pixel = c.pixels.first + lane_row;
    const int32_t lane_ones[kLaneRows] = {ones(c.row + lane_row), ones(c.row + lane_row + 8)};
    uint32_t bits[kLaneRows];
    const int lane_column = 16 * c.half + lane % 4 * 2;
    FinishLaneFloats<kMayBeOutside>(a, pixel, c.pixels.end, c.channel + lane_column, constants,
                                    c.column + lane_column, c.sums, lane_ones, bits);
    if (a.output.after.bits == nullptr) return;
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) {
      bits[h] = c.half == 0 ? bits[h] : bits[h] << 16 | low_bits[h];
      low_bits[h] = bits[h];
    }
    if (c.half == 1) {
      LaneWords::At(a, pixel, c.pixels.end, c.channel / kWarp, lane).Store(0, lane, bits);
    }
  });
}

// Makes any output, for any number of channels.
template <int kFragmentsM, int kFragmentsN, bool kMayBeOutside, class Rows, class Value, class Ones>
LE_DEVICE void FinishByExchange(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                                ExchangeTile& exchange, const Rows& rows, const Value& value,
                                const Ones& ones) {
  using Chunk = FragmentChunk<kFragmentsM, kFragmentsN>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Chunk::ForEach(a, block, row, column, rows, value, [&](const Chunk& c) {
    if (c.half == 0) __syncwarp();  // all lanes have read the values of the previous chunk
    PutIntoExchange(exchange, 16 * c.half, lane, c.sums);
    if (c.half == 0) return;
    __syncwarp();
    FinishExchanged<kMayBeOutside>(a, c.pixels.first, c.pixels.end, c.channel,
                                   a.group_out_channels - c.n, lane, exchange,
                                   [&](int r) { return ones(c.row + r); });
  });
}

// Makes the output from a warp's fragments of 16 rows and 8 columns each, by the epilogue of the
// launch. The first fragment is at `row` and `column` of the block. rows(row) returns the pixels of
// the 16 rows from `row` on, value(i, j, e) register e of fragment (i, j), and ones(row) the ones
// of a row of the block. `exchange` belongs to the warp.
template <int kFragmentsM, int kFragmentsN, int kN, class Rows, class Value, class Ones>
LE_DEVICE void FinishFragments(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                               const EpilogueConstants<kN>& constants, ExchangeTile& exchange,
                               const Rows& rows, const Value& value, const Ones& ones) {
  if (!FinishesInRegisters(a)) {
    FinishByExchange<kFragmentsM, kFragmentsN, /*kMayBeOutside=*/true>(a, block, row, column,
                                                                       exchange, rows, value, ones);
  } else if (a.output.epilogue == Bconv2dOutput::kThreshold) {
    FinishLaneBits<kFragmentsM, kFragmentsN>(
        a, block, row, column, constants, rows,
        [&](int i, int j, int e, int32_t lane_ones, int32_t limit) {
          return Dot(lane_ones, value(i, j, e)) > limit;
        },
        ones);
  } else {
    FinishFloats<kFragmentsM, kFragmentsN, /*kMayBeOutside=*/true>(a, block, row, column, constants,
                                                                   rows, value, ones);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_
