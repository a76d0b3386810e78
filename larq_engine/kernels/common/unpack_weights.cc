#include "larq_engine/kernels/common/unpack_weights.h"

#include <algorithm>
#include <bit>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Flips the sign bit: a product would flush denormal scales to zero in some threads.
inline float WithSign(float plus, uint32_t word, size_t j) {
  const uint32_t sign = (word & kBit[j]) == 0 ? 0 : uint32_t{1} << 31;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, plus) ^ sign);
}

inline int8_t WithSign(int8_t plus, uint32_t word, size_t j) {
  return static_cast<int8_t>((word & kBit[j]) == 0 ? plus : -plus);
}

// Unpacks weights [start, start + count); weight i has the scale plus(i).
template <typename T, typename Scale>
void UnpackSpan(const uint32_t* bits, size_t start, size_t count, Scale plus, T* __restrict out) {
  out += start;
  for (size_t i = 0; i < count;) {
    const size_t bit = (start + i) % kWordBits;
    const size_t length = std::min(kWordBits - bit, count - i);
    const uint32_t word = bits[(start + i) / kWordBits] >> bit;
    if (length == kWordBits) {  // loops of constant length become vectors
      for (size_t j = 0; j < kWordBits; ++j) out[i + j] = WithSign(plus(i + j), word, j);
    } else {
      for (size_t j = 0; j < length; ++j) out[i + j] = WithSign(plus(i + j), word, j);
    }
    i += length;
  }
}

template <typename T>
void Unpack(const PackedWeights& weights, T* out) {
  if (weights.inner == 1) {
    const auto plus = [scale = weights.scale](size_t i) { return static_cast<T>(scale[i]); };
    for (size_t start = 0; start < weights.elements; start += weights.scales) {
      UnpackSpan(weights.bits, start, weights.scales, plus, out);
    }
    return;
  }
  for (size_t start = 0, s = 0; start < weights.elements; start += weights.inner) {
    const auto plus = [scale = static_cast<T>(weights.scale[s])](size_t) { return scale; };
    UnpackSpan(weights.bits, start, weights.inner, plus, out);
    s = s + 1 == weights.scales ? 0 : s + 1;
  }
}

}  // namespace

void UnpackWeights(const PackedWeights& weights, float* out) { Unpack(weights, out); }

void UnpackWeights(const PackedWeights& weights, int8_t* out) { Unpack(weights, out); }

}  // namespace larq_engine
