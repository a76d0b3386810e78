#include "larq_engine/runtime/ops/quantized_multiplier.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace larq_engine {
namespace {

constexpr int kBits = 31;

int64_t ShiftRoundingUp(int64_t value, int bits) {
  return (value + (int64_t{1} << bits) / 2) >> bits;
}

}  // namespace

QuantizedMultiplier::QuantizedMultiplier(double factor) {
  const double fraction = std::frexp(factor, &shift_);
  bits_ = std::llround(fraction * static_cast<double>(int64_t{1} << kBits));
  if (bits_ == int64_t{1} << kBits) {
    bits_ /= 2;
    ++shift_;
  }
  if (shift_ < -kBits) bits_ = shift_ = 0;  // such a factor is 0 for the host
}

int64_t QuantizedMultiplier::operator()(int32_t value) const {
  // A value of 9 bits is beyond 32 bits, and any byte, from a shift of 24 on.
  constexpr int kMostShift = 30;
  const int64_t shifted =
      std::clamp<int64_t>(int64_t{value} * (int64_t{1} << std::clamp(shift_, 0, kMostShift)),
                          std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
  return ShiftRoundingUp(ShiftRoundingUp(shifted * bits_, kBits), std::max(-shift_, 0));
}

}  // namespace larq_engine
