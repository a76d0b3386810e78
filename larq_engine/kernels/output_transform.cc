#include "larq_engine/kernels/output_transform.h"

#include <algorithm>
#include <limits>

#include "larq_engine/kernels/bits.h"

namespace larq_engine {
namespace {

using Int32Limits = std::numeric_limits<int32_t>;

inline float Affine(const OutputTransform& t, int32_t acc, int32_t depth, size_t channel) {
  const int32_t dot = std::clamp(depth - 2 * acc, t.range.min, t.range.max);
  return static_cast<float>(dot) * t.multiplier[channel] + t.bias[channel];
}

void ToFloat(const OutputTransform& t, const int32_t* acc, int32_t depth, size_t channels,
             float* out) {
  for (size_t j = 0; j < channels; ++j) out[j] = Affine(t, acc[j], depth, j);
}

void ToInt8(const OutputTransform& t, const int32_t* acc, int32_t depth, size_t channels,
            int8_t* out) {
  // Clamping to whole numbers before rounding gives the same as after, and makes the conversion to
  // int defined for any float; written so that NaN becomes the lower end.
  const float lowest = static_cast<float>(-128 - t.zero_point);
  const float highest = static_cast<float>(127 - t.zero_point);
  for (size_t j = 0; j < channels; ++j) {
    float y = Affine(t, acc[j], depth, j);
    y = y > lowest ? y : lowest;
    y = y < highest ? y : highest;
    // y - whole is exact; adding 0.5 before truncation would round 0.49999997 up.
    int32_t whole = static_cast<int32_t>(y);
    const float rest = y - static_cast<float>(whole);
    whole += static_cast<int32_t>(rest >= 0.5f) - static_cast<int32_t>(rest <= -0.5f);
    out[j] = static_cast<int8_t>(whole + t.zero_point);
  }
}

void ToBits(const OutputTransform& t, const int32_t* acc, int32_t depth, size_t channels,
            uint32_t* out) {
  for (size_t j = 0; j < channels; j += kWordBits) {
    uint8_t negative[kWordBits] = {};
    const size_t count = std::min(kWordBits, channels - j);
    for (size_t i = 0; i < count; ++i) negative[i] = depth - 2 * acc[j + i] < t.dot_limit[j + i];
    *out++ = PackWord(negative);
  }
}

}  // namespace

DotRange ActivationRange(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return {0, Int32Limits::max()};
    case Activation::kReluN1To1:
      return {-1, 1};
    case Activation::kRelu6:
      return {0, 6};
    case Activation::kNone:
      break;
  }
  return {Int32Limits::min(), Int32Limits::max()};
}

size_t OutputTransform::PixelBytes(size_t channels) const {
  switch (kind) {
    case OutputKind::kInt8:
      return channels;
    case OutputKind::kBits:
      return WordsFor(channels) * sizeof(uint32_t);
    case OutputKind::kFloat:
      break;
  }
  return channels * sizeof(float);
}

OutputTransform MakeFloatTransform(Activation activation, const float* multiplier,
                                   const float* bias, size_t channels) {
  OutputTransform t;
  t.range = ActivationRange(activation);
  t.multiplier.assign(multiplier, multiplier + channels);
  t.bias.assign(bias, bias + channels);
  return t;
}

OutputTransform MakeInt8Transform(Activation activation, const float* multiplier, const float* bias,
                                  size_t channels, double scale, int32_t zero_point) {
  OutputTransform t = MakeFloatTransform(activation, multiplier, bias, channels);
  t.kind = OutputKind::kInt8;
  t.zero_point = zero_point;
  for (float& value : t.multiplier) value = static_cast<float>(value / scale);
  for (float& value : t.bias) value = static_cast<float>(value / scale);
  return t;
}

OutputTransform MakeBitsTransform(const int32_t* threshold, size_t channels, int64_t full_depth) {
  OutputTransform t;
  t.kind = OutputKind::kBits;
  t.dot_limit.resize(channels);
  for (size_t j = 0; j < channels; ++j) {
    // acc > threshold  <=>  dot < full_depth - 2 * threshold; beyond any dot it may saturate.
    const int64_t limit = full_depth - 2 * int64_t{threshold[j]};
    t.dot_limit[j] =
        static_cast<int32_t>(std::clamp<int64_t>(limit, Int32Limits::min(), Int32Limits::max()));
  }
  return t;
}

void TransformPixel(const OutputTransform& transform, const int32_t* acc, int32_t depth,
                    size_t channels, void* out) {
  switch (transform.kind) {
    case OutputKind::kFloat:
      return ToFloat(transform, acc, depth, channels, static_cast<float*>(out));
    case OutputKind::kInt8:
      return ToInt8(transform, acc, depth, channels, static_cast<int8_t*>(out));
    case OutputKind::kBits:
      return ToBits(transform, acc, depth, channels, static_cast<uint32_t*>(out));
  }
}

}  // namespace larq_engine
