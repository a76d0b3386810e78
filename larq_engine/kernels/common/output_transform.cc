#include "larq_engine/kernels/common/output_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

using Int32Limits = std::numeric_limits<int32_t>;

}  // namespace

DotRange DotRangeOf(Activation activation) {
  const FloatRange range = ActivationRange(activation);
  const auto whole = [](float limit) {
    if (std::isinf(limit)) return limit < 0 ? Int32Limits::min() : Int32Limits::max();
    return static_cast<int32_t>(limit);
  };
  return {whole(range.min), whole(range.max)};
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
  t.range = DotRangeOf(activation);
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
    // acc > threshold is equivalent to dot < full_depth - 2 * threshold. A limit beyond any dot
    // product may saturate.
    const int64_t limit = full_depth - 2 * int64_t{threshold[j]};
    t.dot_limit[j] =
        static_cast<int32_t>(std::clamp<int64_t>(limit, Int32Limits::min(), Int32Limits::max()));
  }
  return t;
}

}  // namespace larq_engine
