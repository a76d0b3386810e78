// Describes what follows the binary product: it turns xor-popcounts into the layer's output.
//
//   dot = depth - 2 * acc                      depth: the largest dot product that acc counts for
//   float:  y = clamp(dot) * multiplier + bias
//   int8:   q = saturate(round(clamp(dot) * multiplier + bias) + zero_point)
//   bits:   bit = dot < dot_limit              1 means -1
//
// Rounding is to nearest, with halves away from zero. The code is compiled without contraction to
// fused multiply-adds, so that every ISA gives the same bits.
#ifndef LARQ_ENGINE_KERNELS_COMMON_OUTPUT_TRANSFORM_H_
#define LARQ_ENGINE_KERNELS_COMMON_OUTPUT_TRANSFORM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/activation.h"

namespace larq_engine {

enum class OutputKind : uint8_t { kFloat, kInt8, kBits };

struct DotRange {
  int32_t min;
  int32_t max;
};

// Returns the range that the activation clamps the dot product to, before multiplier and bias.
DotRange DotRangeOf(Activation activation);

struct OutputTransform {
  OutputKind kind = OutputKind::kFloat;
  DotRange range = DotRangeOf(Activation::kNone);  // float and int8
  std::vector<float> multiplier;                   // float and int8
  std::vector<float> bias;                         // float and int8
  int32_t zero_point = 0;                          // int8
  std::vector<int32_t> dot_limit;                  // bits

  // Returns the bytes of one output pixel of `channels` channels.
  size_t PixelBytes(size_t channels) const;
};

// multiplier and bias have one value a channel.
OutputTransform MakeFloatTransform(Activation activation, const float* multiplier,
                                   const float* bias, size_t channels);

// The output's scale is folded into multiplier and bias, in double precision.
OutputTransform MakeInt8Transform(Activation activation, const float* multiplier, const float* bias,
                                  size_t channels, double scale, int32_t zero_point);

// `threshold` is LCE's: the bit is 1 if acc > threshold at full depth, Bconv2dSpec::max_dot().
// There is no activation: the converter has folded it into the thresholds, and has turned the signs
// of some filters, so a clamp here would be wrong.
OutputTransform MakeBitsTransform(const int32_t* threshold, size_t channels, int64_t full_depth);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_OUTPUT_TRANSFORM_H_
