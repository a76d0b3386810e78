// Runs the steps of a PixelProgram on the device. Each float operation is done by itself, and in
// the order of the CPU's (kernels/pixel_ops_loops.h), so that results are bit-identical.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXEL_STEPS_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXEL_STEPS_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/pixel_program.h"

namespace larq_engine::cuda {

inline constexpr int kWarp = 32;  // threads, and bits of a word of channels

// Clamps a value. NaN stays, as every comparison with it is false.
LE_DEVICE float Clamp(float y, float min, float max) {
  y = y < min ? min : y;
  return y > max ? max : y;
}

LE_DEVICE uint32_t FloatBits(float y) { return __float_as_uint(y); }

// Tells whether y < 0, in integers as on the CPU: negative denormals count in any floating-point
// mode.
LE_DEVICE bool IsNegative(float y) {
  return static_cast<int32_t>(FloatBits(y) - 1u) < static_cast<int32_t>(0xff800000u);
}

// Tells whether y, with its sign flipped if the sign bit of `sign` is set, is smaller than a limit.
LE_DEVICE bool IsSmaller(float y, uint32_t sign, float limit) {
  return __uint_as_float(FloatBits(y) ^ sign) < limit;
}

// Values that go through the steps together, so that their loads overlap: one channel of up to
// kRows consecutive pixels.
template <int kRows>
struct PixelColumn {
  float (&y)[kRows];
  int rows;
  int64_t at;  // the first value's place in a tensor of `channels`
  int channels;
  int channel;

  template <class Compute>
  LE_DEVICE void ForEach(const Compute& compute) const {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (i < rows) compute(y[i], at + static_cast<int64_t>(i) * channels);
    }
  }
  // Calls compute(y, values[channel]) for each y.
  template <class Compute>
  LE_DEVICE void WithChannels(const float* values, const Compute& compute) const {
    ForEach([&, value = values[channel]](float& v, int64_t) { compute(v, value); });
  }
  // The values of a tensor at the places of the column.
  struct Tensor {
    float v[kRows];
  };
  LE_DEVICE Tensor Load(const float* values) const {
    Tensor tensor = {};
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (i < rows) tensor.v[i] = values[at + static_cast<int64_t>(i) * channels];
    }
    return tensor;
  }
  template <class Compute>
  LE_DEVICE void With(const Tensor& tensor, const Compute& compute) const {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) compute(y[i], tensor.v[i]);
  }
  template <class Compute>
  LE_DEVICE void WithTensor(const float* values, const Compute& compute) const {
    With(Load(values), compute);
  }
  LE_DEVICE void Store(float* out) const {
    ForEach([&](float& v, int64_t place) { out[place] = v; });
  }
};

template <class Values>
LE_DEVICE void RunSteps(const PixelProgram& program, const Values& values) {
  for (int s = 0; s < program.count; ++s) {
    const PixelStep& step = program.steps[s];
    const auto add = [&](float& v, float other) { v = Clamp(v + other, step.min, step.max); };
    const auto multiply = [&](float& v, float other) { v = Clamp(v * other, step.min, step.max); };
    switch (step.kind) {
      case PixelStep::kAddChannels:
        values.WithChannels(step.values, add);
        break;
      case PixelStep::kMultiplyChannels:
        values.WithChannels(step.values, multiply);
        break;
      case PixelStep::kAddTensor:
        values.WithTensor(step.values, add);
        break;
      case PixelStep::kMultiplyTensor:
        values.WithTensor(step.values, multiply);
        break;
      case PixelStep::kClamp:
        values.ForEach([&](float& v, int64_t) { v = Clamp(v, step.min, step.max); });
        break;
      case PixelStep::kPrelu:
        values.WithChannels(step.values,
                            [](float& v, float slope) { v = v < 0.0f ? v * slope : v; });
        break;
      case PixelStep::kStore:
        values.Store(step.out);
        break;
    }
  }
}

// Finds the bits of the values that the steps leave; bit j belongs to plane j. The values are one
// channel of kRows pixels or, if `apart` is 1, kRows channels of one pixel. This is a binary
// search: each plane, from the last one on, halves the limits that a value may still be smaller
// than.
template <int kRows>
LE_DEVICE void FindMinusBits(const PixelProgram& program, const float (&y)[kRows], int channel,
                             int channels, uint32_t (&bits)[kRows], int apart = 0) {
  if (program.limits == nullptr) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) bits[i] = IsNegative(y[i]) ? 1 : 0;
    return;
  }
  uint32_t signs[kRows];
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) signs[i] = program.signs[channel + i * apart];
  uint32_t levels[kRows] = {};  // the number of limits known not to be greater than the value
  LE_NO_UNROLL
  for (uint32_t half = 1u << program.planes >> 1; half > 0; half /= 2) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const uint32_t at = (levels[i] + half - 1) * static_cast<uint32_t>(channels) +
                          static_cast<uint32_t>(channel + i * apart);
      if (!IsSmaller(y[i], signs[i], program.limits[at])) levels[i] += half;
    }
  }
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) bits[i] = ~levels[i];
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_STEPS_H_
