// Kernels that go through tensors value by value: quantization, dequantization, arithmetic, copies.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXELS_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXELS_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixel_values.h"
#include "larq_engine/kernels/cuda/pixels_args.h"

namespace larq_engine::cuda {

// The part of a lane in a warp that computes 32 channels of a pixel.
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

LE_DEVICE bool BitAt(const uint32_t* row, int channel) {
  return row[channel / kWarp] >> channel % kWarp & 1u;
}

// Returns the values of bits: +1, or -1 where a bit is 1.
template <int kCount>
LE_DEVICE Values<kCount> ValuesOfBits(const uint32_t* row, int channel) {
  const uint32_t bits = row[channel / kWarp] >> channel % kWarp;
  Values<kCount> y;
  LE_UNROLL
  for (int i = 0; i < kCount; ++i) y.v[i] = bits >> i & 1u ? -1.0f : 1.0f;
  return y;
}

// Bytes that one load reads.
template <int kCount>
struct alignas(kCount) Bytes {
  uint8_t v[kCount];
};

template <int kCount>
LE_DEVICE Values<kCount> ValuesOfBytes(const PixelsArgs& a, int64_t at) {
  const Bytes<kCount> bytes = *reinterpret_cast<const Bytes<kCount>*>(a.bytes + at);
  Values<kCount> y;
  LE_UNROLL
  for (int i = 0; i < kCount; ++i) {
    const int32_t value = a.bytes_are_signed ? static_cast<int8_t>(bytes.v[i]) : bytes.v[i];
    y.v[i] = static_cast<float>(value - a.zero_point) * a.scale;
  }
  return y;
}

// Returns the values that a program begins with.
template <int kCount>
LE_DEVICE Values<kCount> FirstValues(const PixelsArgs& a, int64_t pixel, int channel) {
  const int64_t at = pixel * a.channels + channel;
  if (a.floats != nullptr) return LoadValues<kCount>(a.floats + at);
  if (a.bytes != nullptr) return ValuesOfBytes<kCount>(a, at);
  const int words = (a.channels + kWarp - 1) / kWarp;
  return ValuesOfBits<kCount>(a.bits + pixel * words, channel);
}

LE_DEVICE float ValueOf(UnaryFunction function, float x) {
  switch (function) {
    case UnaryFunction::kNone:
      break;
    case UnaryFunction::kLogistic:
      return 1.0f / (1.0f + expf(-x));
  }
  return x;
}

template <int kCount>
LE_DEVICE void Pixels(const PixelsArgs& a) {
  const ValuesPlace my = MyValues<kCount>(a.lanes, a.pixels, a.channels);
  Values<kCount> y = {};
  if (my.inside) {
    y = FirstValues<kCount>(a, my.pixel, my.channel);
    if (a.function != UnaryFunction::kNone) {
      LE_UNROLL
      for (int i = 0; i < kCount; ++i) y.v[i] = ValueOf(a.function, y.v[i]);
    }
  }
  FinishValues(a.program, y, my, a.channels);
}

LE_DEVICE void PackBytes(const PackBytesArgs& a) {
  const WarpPart part = MyWarpPart(a.channels);
  if (part.pixel >= a.pixels) return;
  uint32_t minus = 0;  // bit j belongs to plane j
  if (part.inside) {
    const int8_t value = a.in[part.pixel * a.channels + part.word * kWarp + part.lane];
    const bool is_minus = a.is_bool ? value == 0 : value < a.limit;
    minus = a.planes > 1 ? ~static_cast<uint32_t>(value) : is_minus;
  }
  const int words = (a.channels + kWarp - 1) / kWarp;
  uint32_t* out = a.out + part.pixel * a.planes * words + part.word;
  for (int plane = 0; plane < a.planes; ++plane, out += words) {
    const uint32_t bits = __ballot_sync(~0u, minus >> plane & 1u);
    if (part.lane == 0) *out = bits;
  }
}

LE_DEVICE void UnpackBytes(const UnpackBytesArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.pixels * a.channels) return;
  const int words = (a.channels + kWarp - 1) / kWarp;
  const int channel = static_cast<int>(at % a.channels);
  const bool is_minus = BitAt(a.in + at / a.channels * words, channel);
  a.out[at] = static_cast<int8_t>(is_minus ? a.minus : a.plus);
}

// Calls take(dimension, index) for each index of a place in a tensor, the last dimension first.
template <int kDims, class Number, class Take>
LE_DEVICE void ForEachIndex(const Divisor (&dims)[kDims], Number at, const Take& take) {
  LE_UNROLL
  for (int d = kDims - 1; d >= 0; --d) {
    const Divided<Number> index = Divide(at, dims[d]);
    at = index.quotient;
    take(d, index.rest);
  }
}

template <int kDims, class Take>
LE_DEVICE void ForEachIndex(const Divisor (&dims)[kDims], int64_t at, const Take& take) {
  if (HasLittlePlaces(at)) {
    ForEachIndex(dims, static_cast<int32_t>(at), take);
  } else {
    ForEachIndex<kDims, int64_t>(dims, at, take);
  }
}

LE_DEVICE void Broadcast(const BroadcastArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.count) return;
  int64_t from[2] = {0, 0};
  ForEachIndex(a.dims, at, [&](int d, int index) {
    from[0] += index * a.strides[0][d];
    from[1] += index * a.strides[1][d];
  });
  const float x = a.operands[0][from[0]];
  const float y = a.operands[1][from[1]];
  a.out[at] = Clamp(a.multiplies ? x * y : x + y, a.min, a.max);
}

LE_DEVICE void Pad(const PadArgs& a) {
  const int64_t at = MyIndex();
  if (at >= a.count) return;
  int64_t from = 0;
  int64_t stride = 1;
  bool inside = true;
  ForEachIndex(a.out_dims, at, [&](int d, int out) {
    const int64_t index = int64_t{out} - a.before[d];
    inside = inside && index >= 0 && index < a.in_dims[d];
    from += index * stride;
    stride *= a.in_dims[d];
  });
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
  if (at >= a.pixels * a.in_units.value) return;
  const Divided<int64_t> from = Divide(at, a.in_units);
  const int64_t to = from.quotient * a.out_units + a.first_unit + from.rest;
  if (a.unit_bytes == 1) {
    static_cast<uint8_t*>(a.out)[to] = static_cast<const uint8_t*>(a.in)[at];
  } else {
    static_cast<uint32_t*>(a.out)[to] = static_cast<const uint32_t*>(a.in)[at];
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXELS_H_
