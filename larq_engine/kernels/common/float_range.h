#ifndef LARQ_ENGINE_KERNELS_COMMON_FLOAT_RANGE_H_
#define LARQ_ENGINE_KERNELS_COMMON_FLOAT_RANGE_H_

#include <limits>

namespace larq_engine {

// A range to clamp to: a value below min becomes min, a value above max becomes max, and NaN stays.
struct FloatRange {
  float min;
  float max;
};

// The functions are static, because a file compiled with ISA flags must not share code with one
// that is not.
static inline float Clamp(float value, FloatRange range) {
  value = value < range.min ? range.min : value;
  return value > range.max ? range.max : value;
}

static inline bool ClampsNothing(FloatRange range) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return range.min == -kInfinity && range.max == kInfinity;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_FLOAT_RANGE_H_
