#ifndef LARQ_ENGINE_KERNELS_FLOAT_RANGE_H_
#define LARQ_ENGINE_KERNELS_FLOAT_RANGE_H_

namespace larq_engine {

// Clamps: a value below min becomes min, one above max max; NaN stays.
struct FloatRange {
  float min;
  float max;
};

// Static: a file compiled with ISA flags must not share code with one that is not.
static inline float Clamp(float value, FloatRange range) {
  value = value < range.min ? range.min : value;
  return value > range.max ? range.max : value;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOAT_RANGE_H_
