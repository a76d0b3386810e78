// Code for threads that compute a few channels of a pixel each, and for what becomes of their
// values.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXEL_VALUES_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXEL_VALUES_H_

#include "larq_engine/kernels/cuda/divide.h"
#include "larq_engine/kernels/cuda/pixel_steps.h"

namespace larq_engine::cuda {

// Consecutive values, which are read and written at once.
template <int kCount>
struct alignas(kCount * sizeof(float)) Values {
  float v[kCount];
};

template <int kCount>
LE_DEVICE Values<kCount> LoadValues(const float* from) {
  return *reinterpret_cast<const Values<kCount>*>(from);
}

LE_DEVICE int64_t MyIndex() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

// The place of a thread's values.
struct ValuesPlace {
  int64_t pixel;
  int channel;  // the first
  bool inside;  // whether the pixel and the channels exist
};

// Returns the place of this thread's kCount channels, where a pixel has `lanes` threads.
template <int kCount>
LE_DEVICE ValuesPlace MyValues(const Divisor& lanes, int64_t pixels, int channels) {
  const Divided<int64_t> at = Divide(MyIndex(), lanes);
  const int channel = kCount * at.rest;
  return {at.quotient, channel, at.quotient < pixels && channel < channels};
}

// Values of kCount channels of a pixel, with the functions of PixelColumn.
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

// Returns, in all lanes of a word, the word of bits that these lanes have for a plane.
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

// Runs the program on a thread's values and writes their bits. All lanes of the warp must call it.
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
