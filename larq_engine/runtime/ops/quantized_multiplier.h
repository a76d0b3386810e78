// A factor as the host's own integer kernels have it: 31 bits and a power of two.
#ifndef LARQ_ENGINE_RUNTIME_OPS_QUANTIZED_MULTIPLIER_H_
#define LARQ_ENGINE_RUNTIME_OPS_QUANTIZED_MULTIPLIER_H_

#include <cstdint>

namespace larq_engine {

class QuantizedMultiplier {
 public:
  // `factor` is positive and finite.
  explicit QuantizedMultiplier(double factor);

  // Multiplies a number of at most 9 bits and a sign. Rounds halves up twice, as the host does with
  // vectors of x86: where it drops 31 bits, and where it drops the others. Returns at most what 32
  // bits hold.
  int64_t operator()(int32_t value) const;

 private:
  int64_t bits_;  // the factor is bits_ * 2^(shift_ - 31)
  int shift_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_QUANTIZED_MULTIPLIER_H_
