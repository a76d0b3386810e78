// Threads that take a few channels of a pixel each, and what becomes of their values.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXEL_VALUES_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXEL_VALUES_H_

#include "larq_engine/kernels/cuda/divide.h"
#include "larq_engine/kernels/cuda/pixel_steps.h"

namespace larq_engine::cuda {

// Values that lie one behind the other and are read and written at once.
template <int kCount>
struct alignas(kCount * sizeof(float)) Values {
  float v[kCount];
};

template <int kCount>
LE_DEVICE Values<kCount> LoadValues(const float* from) {
  return *reinterpret_cast<const Values<kCount>*>(from);
}

LE_DEVICE int64_t MyIndex() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

// Where a thread's values are.
struct ValuesPlace {
  int64_t pixel;
  int channel;  // the first
  bool inside;  // whether there are such a pixel and such channels
};

// kCount channels of one of a pixel's lanes.
template <int kCount>
LE_DEVICE ValuesPlace MyValues(const Divisor& lanes, int64_t pixels, int channels) {
  const Divided<int64_t> at = Divide(MyIndex(), lanes);
  const int channel = kCount * at.rest;
  return {at.quotient, channel, at.quotient < pixels && channel < channels};
}

// As PixelColumn, of channels of a pixel.
template <int kCount>
struct PixelValues {
  Values<kCount>& y;
  int64_t at;  // the first value's place in a tensor
  int channel;

  template <class Compute>
  LE_DEVICE void ForEach(const Compute& compute) const {
    LE_UNROLL
    for (int i = 0; i < kCount; ++i) compute(y.v[i], at + i);
  }
  template <class Compute>
  LE_DEVICE void WithOthers(const float* others, const Compute& compute) const {
    const Values<kCount> values = LoadValues<kCount>(others);
    LE_UNROLL
    for (int i = 0; i < kCount; ++i) compute(y.v[i], values.v[i]);
  }
  template <class Compute>
  LE_DEVICE void WithChannels(const float* values, const Compute& compute) const {
    WithOthers(values + channel, compute);
  }
  template <class Compute>
  LE_DEVICE void WithTensor(const float* values, const Compute& compute) const {
    WithOthers(values + at, compute);
  }
  LE_DEVICE void Store(float* out) const { *reinterpret_cast<Values<kCount>*>(out + at) = y; }
};

// The bits that a word's lanes have of a plane, in all of them.
template <int kCount>
LE_DEVICE uint32_t JoinBits(const uint32_t (&bits)[kCount], int plane, int channel) {
  if constexpr (kCount == 1) {
    return __ballot_sync(~0u, bits[0] >> plane & 1u);
  } else {
    uint32_t word = 0;
    LE_UNROLL
    for (int i = 0; i < kCount; ++i) word |= (bits[i] >> plane & 1u) << i;
    word <<= channel % kWarp;
    LE_UNROLL
    for (int distance = 1; distance < kWarp / kCount; distance *= 2) {
      word |= __shfl_xor_sync(~0u, word, distance);
    }
    return word;
  }
}

// All lanes of the warp call it.
template <int kCount>
LE_DEVICE void FinishValues(const PixelProgram& program, Values<kCount> y, const ValuesPlace& my,
                            int channels) {
  if (my.inside) {
    const int64_t at = my.pixel * channels + my.channel;
    RunSteps(program, PixelValues<kCount>{y, at, my.channel});
  }
  if (program.bits == nullptr) return;
  uint32_t bits[kCount] = {};
  if (my.inside) FindMinusBits(program, y.v, my.channel, channels, bits, 1);
  const int words = (channels + kWarp - 1) / kWarp;
  LE_NO_UNROLL
  for (int plane = 0; plane < program.planes; ++plane) {
    const uint32_t word = JoinBits(bits, plane, my.channel);
    if (my.inside && my.channel % kWarp == 0) {
      program.bits[(my.pixel * program.planes + plane) * words + my.channel / kWarp] = word;
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_VALUES_H_
