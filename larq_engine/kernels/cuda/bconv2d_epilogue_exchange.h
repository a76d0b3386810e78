// Makes any output from the fragments of a product, whose values the lanes of a warp exchange.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_EXCHANGE_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_EXCHANGE_H_

#include "larq_engine/kernels/cuda/bconv2d_lane.h"

namespace larq_engine::cuda {

// Shared memory in which the lanes of a warp exchange values, so that each lane has one channel and
// the warp writes a whole row of 32. The pitch of 40 puts 8-byte writes of 4 rows at once into
// different banks.
struct ExchangeTile {
  int32_t values[16][40];
};

// Writes a lane's sums of two fragments to where other lanes read them.
LE_DEVICE void PutIntoExchange(ExchangeTile& exchange, int column, int lane,
                               const int32_t (&sums)[kLaneSums]) {
  LE_UNROLL
  for (int e = 0; e < kLaneSums; ++e) {
    const int row = lane / 4 + 8 * (e % 4 / 2);
    exchange.values[row][column + 8 * (e / 4) + 2 * (lane % 4) + e % 2] = sums[e];
  }
}

// Makes any output from the sums of 16 pixels and a word of channels; each lane has one channel.
// `pixel` and `channel` are the first ones, `channels` is the number of channels left, and
// ones(row) returns the ones of a row's pixel.
template <bool kMayBeOutside, class Ones>
LE_DEVICE void FinishExchanged(const Bconv2dArgs& a, int pixel, int pixels, int channel,
                               int channels, int lane, const ExchangeTile& exchange,
                               const Ones& ones) {
  const bool inside = lane < channels;
  constexpr int kRows = 4;  // rows finished at once: more rows need more registers
  LE_NO_UNROLL
  for (int r = 0; r < 16; r += kRows) {
    if (pixel + r >= pixels) break;
    int32_t excess[kRows];
    LE_UNROLL
    for (int k = 0; k < kRows; ++k) excess[k] = Dot(ones(r + k), exchange.values[r + k][lane]);
    const int rows = pixels - pixel - r < kRows ? pixels - pixel - r : kRows;
    FinishWords<kMayBeOutside>(a, pixel + r, rows, channel / kWarp, lane, inside, excess);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_EXCHANGE_H_
