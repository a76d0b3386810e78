// Dense layers whose weights are +-1 and whose inputs are floats, summed in the order of
// kernels/signed_sums.h, or int8. A warp computes 32 outputs of a few rows.
#ifndef LARQ_ENGINE_KERNELS_CUDA_SIGNED_DENSE_H_
#define LARQ_ENGINE_KERNELS_CUDA_SIGNED_DENSE_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

// Returns inputs i to i + 3 of a row, where i is a multiple of 4. Inputs behind the last one are 0.
LE_DEVICE Values<4> FourInputs(const float* row, int i, int depth) {
  if (depth % 4 == 0) return LoadValues<4>(row + i);
  Values<4> four;
  LE_UNROLL
  for (int d = 0; d < 4; ++d) four.v[d] = i + d < depth ? row[i + d] : 0.0f;
  return four;
}

// Returns the value, negated if the given bit of the word is 1.
LE_DEVICE float Signed(float value, uint32_t bits, int bit) {
  return __uint_as_float(__float_as_uint(value) ^ (bits << (31 - bit) & 0x80000000u));
}

// Finds where each of a warp's rows begins, from row `first` on. In the place of rows behind the
// last one, the last one is summed, but not stored.
template <class T>
LE_DEVICE void FindRows(const T* in, int64_t first, int64_t count, int depth,
                        const T* (&rows)[kSignedDenseRows]) {
  LE_UNROLL
  for (int r = 0; r < kSignedDenseRows; ++r) {
    rows[r] = in + (first + r < count ? first + r : count - 1) * depth;
  }
}

// Calls take(k, bits) for each four inputs from k on, where the lowest bits are the signs of a unit
// for them. The words of `units` units are neighbours, padded to whole warps.
template <class Take>
LE_DEVICE void ForEachFour(const uint32_t* signs, int unit, int units, int depth,
                           const Take& take) {
  const int lanes = (units + kWarp - 1) / kWarp * kWarp;
  const uint32_t* word = signs + unit;
  for (int i = 0; i < depth; i += kWarp, word += lanes) {
    uint32_t bits = *word;
    const int end = i + kWarp < depth ? i + kWarp : depth;
    LE_NO_UNROLL
    for (int k = i; k < end; k += 4, bits >>= 4) take(k, bits);
  }
}

LE_DEVICE void SignedDense(const SignedDenseArgs& a) {
  const WarpPart part = MyWarpPart(a.units);
  const int64_t first = part.pixel * kSignedDenseRows;
  if (first >= a.rows) return;
  const float* rows[kSignedDenseRows];
  FindRows(a.in, first, a.rows, a.depth, rows);
  const int unit = part.word * kWarp + part.lane;
  float sums[kSignedDenseRows] = {};
  ForEachFour(a.signs, unit, a.units, a.depth, [&](int k, uint32_t bits) {
    LE_UNROLL
    for (int r = 0; r < kSignedDenseRows; ++r) {
      const Values<4> x = FourInputs(rows[r], k, a.depth);
      float four = Signed(x.v[0], bits, 0);
      LE_UNROLL
      for (int d = 1; d < 4; ++d) four += Signed(x.v[d], bits, d);
      sums[r] += four;
    }
  });
  // The loop is not unrolled, as its body is long: the sums move up instead of being indexed.
  LE_NO_UNROLL
  for (int r = 0; r < kSignedDenseRows && first + r < a.rows; ++r) {
    const Values<1> y = {part.inside ? sums[0] * a.scale[unit] : 0.0f};
    FinishValues(a.program, y, {first + r, unit, part.inside}, a.units);
    LE_UNROLL
    for (int next = 1; next < kSignedDenseRows; ++next) sums[next - 1] = sums[next];
  }
}

// Returns four int8 inputs in a word, the first in the lowest byte.
LE_DEVICE int32_t FourInputs(const int8_t* row, int i, int depth) {
  using Word __attribute__((may_alias)) = int32_t;
  if (depth % 4 == 0) return *reinterpret_cast<const Word*>(row + i);
  uint32_t four = 0;
  LE_UNROLL
  for (int d = 0; d < 4; ++d) {
    const uint32_t byte = i + d < depth ? static_cast<uint8_t>(row[i + d]) : 0;
    four |= byte << 8 * d;
  }
  return static_cast<int32_t>(four);
}

// Returns the four lowest bits as bytes: 1, or -1 for a bit that is 1.
LE_DEVICE int32_t FourSigns(uint32_t bits) {
  const uint32_t minus = (bits & 0xfu) * 0x00204081u & 0x01010101u;
  return static_cast<int32_t>(minus * 0xfeu | 0x01010101u);
}

// Rounds to the nearest integer, halves to even, like kernels/round_to_int8.h. The range has whole
// numbers of few bits, which are the low bits of their sum with 1.5 * 2^23.
LE_DEVICE int8_t RoundToEvenInt8(float y, float min, float max, int32_t zero_point) {
  constexpr float kRounding = 12582912;
  const uint32_t bits = FloatBits(Clamp(y, min, max) + kRounding) - FloatBits(kRounding);
  return static_cast<int8_t>(static_cast<int32_t>(bits) + zero_point);
}

LE_DEVICE void SignedDenseInt8(const SignedDenseInt8Args& a) {
  const WarpPart part = MyWarpPart(a.units);
  const int64_t first = part.pixel * kSignedDenseRows;
  if (first >= a.rows || !part.inside) return;
  const int8_t* rows[kSignedDenseRows];
  FindRows(a.in, first, a.rows, a.depth, rows);
  const int unit = part.word * kWarp + part.lane;
  int32_t sums[kSignedDenseRows] = {};
  ForEachFour(a.signs, unit, a.units, a.depth, [&](int k, uint32_t bits) {
    const int32_t four_signs = FourSigns(bits);
    LE_UNROLL
    for (int r = 0; r < kSignedDenseRows; ++r) {
      sums[r] = __dp4a(FourInputs(rows[r], k, a.depth), four_signs, sums[r]);
    }
  });
  const auto weight = static_cast<uint32_t>(a.weight[unit]);
  const auto bias = static_cast<uint32_t>(a.bias[unit]);
  const float multiplier = a.multiplier[unit];
  LE_UNROLL
  for (int r = 0; r < kSignedDenseRows; ++r) {
    if (first + r >= a.rows) break;
    const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[r]) * weight + bias);
    a.out[(first + r) * a.units + unit] =
        RoundToEvenInt8(static_cast<float>(sum) * multiplier, a.min, a.max, a.zero_point);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_SIGNED_DENSE_H_
