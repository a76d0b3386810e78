#ifndef LARQ_ENGINE_KERNELS_FLOAT_RANGE_H_
#define LARQ_ENGINE_KERNELS_FLOAT_RANGE_H_

namespace larq_engine {

// Clamps: a value below min becomes min, one above max max; NaN stays.
struct FloatRange {
  float min;
  float max;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOAT_RANGE_H_
