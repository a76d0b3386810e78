// Kernels that go through tensors value by value: quantization, dequantization, arithmetic, copies.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXELS_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXELS_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixel_steps.h"
#include "larq_engine/kernels/cuda/pixels_args.h"

namespace larq_engine::cuda {

// A warp's share where each has 32 channels of a pixel.
struct WarpPart {
  int64_t pixel;
  int word;
  int lane;
  bool inside;  // whether the lane has a channel
};

LE_DEVICE WarpPart MyWarpPart(int channels) {
  const int words = (channels + kWarp - 1) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const int word = static_cast<int>(at % words);
  return {at / words, word, lane, word * kWarp + lane < channels};
}

LE_DEVICE int64_t MyIndex() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

LE_DEVICE bool BitAt(const uint32_t* row, int channel) {
  return row[channel / kWarp] >> channel % kWarp & 1u;
}

LE_DEVICE void Pixels(const PixelsArgs& a) {
  const WarpPart part = MyWarpPart(a.channels);
  if (part.pixel >= a.pixels) return;
  const int channel = part.word * kWarp + part.lane;
  float y = 0;
  if (part.inside) {
    const int words = (a.channels + kWarp - 1) / kWarp;
    y = a.floats != nullptr                           ? a.floats[part.pixel * a.channels + channel]
        : BitAt(a.bits + part.pixel * words, channel) ? -1.0f
                                                      : 1.0f;
    if (a.is_logistic) y = 1.0f / (1.0f + expf(-y));
  }
  FinishWord(a.program, y, part.pixel, part.word, part.lane, a.channels, part.inside);
}

LE_DEVICE void PackBytes(const PackBytesArgs& a) {
  const WarpPart part = MyWarpPart(a.channels);
  if (part.pixel >= a.pixels) return;
  bool is_minus = false;
  if (part.inside) {
    const int8_t value = a.in[part.pixel * a.channels + part.word * kWarp + part.lane];
    is_minus = a.is_bool ? value == 0 : value < a.limit;
  }
  const uint32_t bits = __ballot_sync(~0u, is_minus);
  const int words = (a.channels + kWarp - 1) / kWarp;
  if (part.lane == 0) a.out[part.pixel * words + part.word] = bits;
}

LE_DEVICE void UnpackBytes(const UnpackBytesArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.pixels * a.channels) return;
  const int words = (a.channels + kWarp - 1) / kWarp;
  const int channel = static_cast<int>(at % a.channels);
  const bool is_minus = BitAt(a.in + at / a.channels * words, channel);
  a.out[at] = static_cast<int8_t>(is_minus ? a.minus : a.plus);
}

LE_DEVICE void Broadcast(const BroadcastArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.count) return;
  int64_t rest = at;
  int64_t from[2] = {0, 0};
  LE_UNROLL
  for (int d = kMaxBroadcastDims - 1; d >= 0; --d) {
    const int64_t index = rest % a.dims[d];
    rest /= a.dims[d];
    from[0] += index * a.strides[0][d];
    from[1] += index * a.strides[1][d];
  }
  const float x = a.operands[0][from[0]];
  const float y = a.operands[1][from[1]];
  a.out[at] = Clamp(a.multiplies ? x * y : x + y, a.min, a.max);
}

LE_DEVICE void Pad(const PadArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.count) return;
  int64_t rest = at;
  int64_t from = 0;
  int64_t stride = 1;
  bool inside = true;
  LE_UNROLL
  for (int d = kMaxBoxDims - 1; d >= 0; --d) {
    const int64_t index = rest % a.out_dims[d] - a.before[d];
    rest /= a.out_dims[d];
    inside = inside && index >= 0 && index < a.in_dims[d];
    from += index * stride;
    stride *= a.in_dims[d];
  }
  if (a.unit_bytes == 1) {
    static_cast<uint8_t*>(a.out)[at] =
        inside ? static_cast<const uint8_t*>(a.in)[from] : static_cast<uint8_t>(a.around);
  } else {
    static_cast<uint32_t*>(a.out)[at] =
        inside ? static_cast<const uint32_t*>(a.in)[from] : a.around;
  }
}

LE_DEVICE void CopyChannels(const CopyChannelsArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.pixels * a.in_units) return;
  const int64_t to = at / a.in_units * a.out_units + a.first_unit + at % a.in_units;
  if (a.unit_bytes == 1) {
    static_cast<uint8_t*>(a.out)[to] = static_cast<const uint8_t*>(a.in)[at];
  } else {
    static_cast<uint32_t*>(a.out)[to] = static_cast<const uint32_t*>(a.in)[at];
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXELS_H_
