// The loops of PixelOps, written once and compiled once for each ISA, whose flags decide how the
// compiler vectorises them. Everything here is internal to the file that includes it: a copy
// compiled with ISA flags must never be merged with the copy that runs on any CPU.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_LOOPS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_LOOPS_H_

#include <cstring>

#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"
#include "larq_engine/kernels/pixels/pixel_ops_bytes.h"
#include "larq_engine/kernels/pixels/pixel_ops_exp.h"
#include "larq_engine/kernels/pixels/pixel_ops_functions.h"
#include "larq_engine/kernels/pixels/pixel_ops_rows.h"

namespace larq_engine {
namespace {

// Packs 32 bytes, each 0 or 1, into a word. The product moves bit 0 of each of 8 bytes into the top
// byte (byte j is shifted by 56 - 7j, and no two partial products overlap). So the compiler can
// vectorise, for any ISA, the comparison that made the bytes.
inline uint32_t PackWord(const uint8_t* bytes) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) {
    uint64_t eight;
    std::memcpy(&eight, bytes + 8 * i, sizeof(eight));
    word |= static_cast<uint32_t>((eight * 0x0102040810204080) >> 56) << (8 * i);
  }
  return word;
}

// Packs up to a word of conditions; is_set(c) tells whether bit c is 1. Loops over a constant
// number of conditions become vectors.
template <typename IsSet>
inline uint32_t PackSome(size_t count, const IsSet& is_set) {
  uint8_t set[kWordBits] = {};
  count = count < kWordBits ? count : kWordBits;  // gcc's sanitizers do not see that it is smaller
  size_t c = 0;
  for (; c + 8 <= count; c += 8) {
    for (size_t i = 0; i < 8; ++i) set[c + i] = is_set(c + i);
  }
  for (; c < count; ++c) set[c] = is_set(c);
  return PackWord(set);
}

// Packs one row of `channels` values: word(c) packs the values from c on, and is_set(c) is the bit
// of one value. The values after the last whole word are the upper bits of a word that ends with
// the row.
template <typename Word, typename IsSet>
inline void PackRow(size_t channels, const Word& word, const IsSet& is_set, uint32_t* out) {
  size_t c = 0;
  for (; c + kWordBits <= channels; c += kWordBits) *out++ = word(c);
  const size_t left = channels - c;
  if (left == 0) return;
  *out = c > 0 ? word(channels - kWordBits) >> (kWordBits - left) : PackSome(left, is_set);
}

template <typename IsSet>
inline void PackRow(size_t channels, const IsSet& is_set, uint32_t* out) {
  const auto word = [&](size_t c) {
    uint8_t set[kWordBits];
    for (size_t i = 0; i < kWordBits; ++i) set[i] = is_set(c + i);
    return PackWord(set);
  };
  PackRow(channels, word, is_set, out);
}

template <typename T>
inline T* OutRow(const TransformArgs& args, size_t row) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(args.out) + row * args.out_stride);
}

// The result fits. Twice the accumulator may overflow, which is defined for unsigned numbers.
inline int32_t Dot(int32_t depth, int32_t acc) {
  return static_cast<int32_t>(static_cast<uint32_t>(depth) - 2 * static_cast<uint32_t>(acc));
}

template <bool kClamp>
inline float Affine(const TransformArgs& args, int32_t acc, int32_t depth, size_t channel) {
  int32_t dot = Dot(depth, acc);
  if (kClamp) {
    dot = dot < args.dot_min ? args.dot_min : dot;
    dot = dot > args.dot_max ? args.dot_max : dot;
  }
  return static_cast<float>(dot) * args.multiplier[channel] + args.bias[channel];
}

// Tells whether there is an activation; most layers have none.
inline bool Clamps(const TransformArgs& args) {
  return args.dot_min != INT32_MIN || args.dot_max != INT32_MAX;
}

// Writes finish(y) for each accumulator's y.
template <bool kClamp, typename T, typename Finish>
inline void AffineRows(const TransformArgs& args, const Finish& finish) {
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    T* __restrict out = OutRow<T>(args, i);
    for (size_t j = 0; j < args.channels; ++j) {
      out[j] = finish(Affine<kClamp>(args, acc[j], depth, j));
    }
  }
}

template <typename T, typename Finish>
inline void AffineRows(const TransformArgs& args, const Finish& finish) {
  if (Clamps(args)) {
    AffineRows<true, T>(args, finish);
  } else {
    AffineRows<false, T>(args, finish);
  }
}

inline const float* AddendRow(const TransformArgs& args, size_t row) {
  return reinterpret_cast<const float*>(reinterpret_cast<const unsigned char*>(args.sum.addend) +
                                        row * args.out_stride);
}

inline float PreluOf(float x, float slope) {
  // The choice is made by bits, because otherwise the compiler would branch around the product.
  const uint32_t scaled = __builtin_bit_cast(uint32_t, x * slope);
  const uint32_t same = __builtin_bit_cast(uint32_t, x);
  const uint32_t negative = x < 0.0f ? ~0u : 0u;
  return __builtin_bit_cast(float, (scaled & negative) | (same & ~negative));
}

// The forms of a residual sum. If gates of 1 stood for no gate, a layer of 64 channels would take 5
// % longer on a Zen 4. If sums without a range were clamped to all floats, RealToBinaryNet, whose
// sums are gated, would take 1 % longer.
enum class Sum : uint8_t { kNone, kPlain, kClamped, kGated, kGatedAndClamped };

constexpr bool IsGated(Sum sum) { return sum == Sum::kGated || sum == Sum::kGatedAndClamped; }
constexpr bool IsClamped(Sum sum) { return sum == Sum::kClamped || sum == Sum::kGatedAndClamped; }

inline Sum FormOf(const ResidualSum& sum) {
  if (sum.addend == nullptr) return Sum::kNone;
  if (ClampsNothing(sum.range)) return sum.gate == nullptr ? Sum::kPlain : Sum::kGated;
  return sum.gate == nullptr ? Sum::kClamped : Sum::kGatedAndClamped;
}

template <Sum kSum>
inline float Summed(const ResidualSum& sum, float y, float addend, size_t channel) {
  if (IsGated(kSum)) y = PreluOf(y * sum.gate[channel], sum.slopes[channel]);
  y += addend;
  return IsClamped(kSum) ? Clamp(y, sum.range) : y;
}

template <bool kClamp, Sum kSum>
inline void AffineSums(const TransformArgs& args) {
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    const float* addend = AddendRow(args, i);
    float* out = OutRow<float>(args, i);
    for (size_t j = 0; j < args.channels; ++j) {
      out[j] = Summed<kSum>(args.sum, Affine<kClamp>(args, acc[j], depth, j), addend[j], j);
    }
  }
}

template <Sum kSum>
inline void AffineSums(const TransformArgs& args) {
  if (Clamps(args)) {
    AffineSums<true, kSum>(args);
  } else {
    AffineSums<false, kSum>(args);
  }
}

void ToFloat(const TransformArgs& given) {
  const TransformArgs args = given;  // a copy, which writing the output cannot change
  switch (FormOf(args.sum)) {
    case Sum::kNone:
      return AffineRows<float>(args, [](float y) { return y; });
    case Sum::kPlain:
      return AffineSums<Sum::kPlain>(args);
    case Sum::kClamped:
      return AffineSums<Sum::kClamped>(args);
    case Sum::kGated:
      return AffineSums<Sum::kGated>(args);
    case Sum::kGatedAndClamped:
      return AffineSums<Sum::kGatedAndClamped>(args);
  }
}

// The greatest float below one half. Added to a half, with its sign, it rounds to the next whole
// number; added to less than a half it does not. With 0.5 itself, 0.49999997 would become 1.
inline constexpr float kBelowHalf = 0x1.fffffep-2f;

// Clamping to whole numbers before rounding gives the same result as after it, and makes the
// conversion to int defined for any float. It is written so that NaN becomes the lower end.
struct Int8Ends {
  int32_t zero_point;
  float lowest;
  float highest;
  explicit Int8Ends(int32_t zero)
      : zero_point(zero),
        lowest(static_cast<float>(-128 - zero)),
        highest(static_cast<float>(127 - zero)) {}
  int8_t Rounded(float y) const {
    y = y > lowest ? y : lowest;
    y = y < highest ? y : highest;
    const float half = y < 0 ? -kBelowHalf : kBelowHalf;
    return static_cast<int8_t>(static_cast<int32_t>(y + half) + zero_point);
  }
};

void ToInt8(const TransformArgs& given) {
  const TransformArgs args = given;
  const Int8Ends ends(args.zero_point);
  AffineRows<int8_t>(args, [ends](float y) { return ends.Rounded(y); });
}

void ToBits(const TransformArgs& given) {
  const TransformArgs args = given;
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    PackRow(
        args.channels, [&](size_t j) { return Dot(depth, acc[j]) < args.dot_limit[j]; },
        OutRow<uint32_t>(args, i));
  }
}

// Compares x < 0 in integers, so that the result does not depend on whether the thread flushes
// denormals to zero. The bits of negative values are those from 0x80000001, the smallest denormal,
// to 0xff800000, minus infinity. Subtracting one makes the first of them the lowest int32, and
// makes +-0 large.
inline constexpr int32_t kMinusInfinityBits = static_cast<int32_t>(0xff800000);
inline bool IsNegative(const float* x) {
  return static_cast<int32_t>(__builtin_bit_cast(uint32_t, *x) - 1) < kMinusInfinityBits;
}

template <typename IsSet>
inline void PackRows(size_t rows, size_t channels, const IsSet& is_set, uint32_t* out) {
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    PackRow(
        count, [&](size_t c) { return is_set(first + c); }, to);
  };
  PackRows(rows, channels, pack, DealRows, out);
}

void BitpackFloatRows(const float* in, size_t rows, size_t channels, uint32_t* out) {
  PackRows(
      rows, channels, [in](size_t at) { return IsNegative(in + at); }, out);
}

inline bool IsBelow(float x, float limit, uint32_t sign) {
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, x) ^ sign) < limit;
}

void BitpackFloatLimitsRows(const float* in, const float* limits, const uint32_t* signs,
                            size_t rows, size_t channels, uint32_t* out, size_t out_stride) {
  const auto pack = [](const float* x, const float* limit, const uint32_t* sign, size_t count,
                       uint32_t* to) {
    PackRow(
        count, [&](size_t c) { return IsBelow(x[c], limit[c], sign[c]); }, to);
  };
  PackLimitRows(in, limits, signs, rows, channels, pack, DealRows, out, out_stride);
}

void BitpackInt8Rows(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                     uint32_t* out) {
  PackRows(
      rows, channels, [=](size_t at) { return in[at] < zero_point; }, out);
}

void BitpackBoolRows(const uint8_t* in, size_t rows, size_t channels, uint32_t* out) {
  PackRows(
      rows, channels, [in](size_t at) { return in[at] == 0; }, out);
}

// Unpacks rows; unpack_some(bits, count, to) makes up to a word of values. Loops over a constant
// number of them become vectors.
template <typename T, typename UnpackSome>
inline void UnpackRows(const uint32_t* in, size_t rows, size_t channels,
                       const UnpackSome& unpack_some, T* out) {
  if (channels == 0) return;
  if (channels <= 16) {
    // Joining would cost more. The last eight values of a row may run into the rows after it.
    const size_t rows_before = RowsBefore((8 - channels % 8) % 8, rows, channels);
    for (size_t i = 0; i < rows_before; ++i, out += channels) {
      const uint32_t bits = *in++;
      for (size_t c = 0; c < channels; c += 8) unpack_some(bits >> c, 8, out + c);
    }
    for (size_t i = rows_before; i < rows; ++i, out += channels) unpack_some(*in++, channels, out);
    return;
  }
  const auto unpack = [&](const uint32_t* words, size_t first, size_t count, size_t) {
    T* to = out + first;
    for (; count >= kWordBits; count -= kWordBits, to += kWordBits) {
      unpack_some(*words++, kWordBits, to);
    }
    if (count > 0) unpack_some(*words, count, to);
  };
  UnpackRows(in, rows, channels, channels < kNarrow, JoinRows, unpack);
}

void UnpackFloatRows(const uint32_t* in, size_t rows, size_t channels, float* out) {
  const auto unpack_some = [](uint32_t bits, size_t count, float* to) {
    for (size_t b = 0; b < count; ++b) to[b] = bits & kBit[b] ? -1.0f : 1.0f;
  };
  UnpackRows(in, rows, channels, unpack_some, out);
}

// T is a byte. Each byte of a word gets a copy of the eight bits and keeps one of them; an addition
// carries this bit to the top of the byte.
template <typename T>
inline void UnpackByteRows(const uint32_t* in, size_t rows, size_t channels, T plus, T minus,
                           T* out) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t pluses = kOnes * static_cast<uint8_t>(plus);
  const uint64_t change = static_cast<uint8_t>(plus ^ minus);
  const auto eight = [&](uint32_t bits) {
    const uint64_t kept = (bits & 0xff) * kOnes & 0x8040201008040201;
    const uint64_t is_minus = (kept + 0x7f * kOnes) >> 7 & kOnes;
    return pluses ^ is_minus * change;
  };
  const auto unpack_some = [&](uint32_t bits, size_t count, T* to) {
    size_t b = 0;
    for (; b + 8 <= count; b += 8) {
      const uint64_t bytes = eight(bits >> b);
      std::memcpy(to + b, &bytes, sizeof(bytes));
    }
    if (b == count) return;
    const uint64_t bytes = eight(bits >> b);
    std::memcpy(to + b, &bytes, count - b);
  };
  UnpackRows(in, rows, channels, unpack_some, out);
}

void UnpackInt8Rows(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                    int8_t* out) {
  UnpackByteRows(in, rows, channels, plus, minus, out);
}

void UnpackBoolRows(const uint32_t* in, size_t rows, size_t channels, uint8_t* out) {
  UnpackByteRows<uint8_t>(in, rows, channels, 1, 0, out);
}

void MaxBits(const uint32_t* const* taps, size_t tap_count, size_t words, uint32_t* out) {
  if (words == 0) return;  // memmove must not get null pointers, whatever the size
  std::memmove(out, taps[0], words * sizeof(*out));
  for (size_t tap = 1; tap < tap_count; ++tap) {
    for (size_t i = 0; i < words; ++i) out[i] &= taps[tap][i];  // 1 is -1
  }
}

void MaxFloat(const float* const* taps, size_t tap_count, size_t count, float* out) {
  if (count == 0) return;
  std::memmove(out, taps[0], count * sizeof(*out));
  for (size_t tap = 1; tap < tap_count; ++tap) {
    const float* in = taps[tap];
    for (size_t i = 0; i < count; ++i) out[i] = in[i] > out[i] ? in[i] : out[i];
  }
}

inline void MaxProductsFrom(size_t first, const float* const* taps, size_t tap_count,
                            const float* factors, size_t count, float* out) {
  for (size_t i = first; i < count; ++i) out[i] = taps[0][i] * factors[i];
  for (size_t tap = 1; tap < tap_count; ++tap) {
    const float* in = taps[tap];
    for (size_t i = first; i < count; ++i) {
      const float product = in[i] * factors[i];
      out[i] = product > out[i] ? product : out[i];
    }
  }
}

void MaxProducts(const float* const* taps, size_t tap_count, const float* factors, size_t count,
                 float* out) {
  MaxProductsFrom(0, taps, tap_count, factors, count, out);
}

void Average(const float* const* taps, size_t tap_count, size_t count, float divisor, float* out) {
  if (count == 0) return;
  if (taps[0] != out) std::memmove(out, taps[0], count * sizeof(*out));
  for (size_t i = 0; i < count; ++i) out[i] += 0.0f;  // the sum of only -0.0 is 0.0
  for (size_t tap = 1; tap < tap_count; ++tap) {
    const float* in = taps[tap];
    for (size_t i = 0; i < count; ++i) out[i] += in[i];
  }
  if (divisor == 1.0f) return;
  for (size_t i = 0; i < count; ++i) out[i] /= divisor;
}

// Computes kUnits units, whose sums stay in registers.
template <size_t kUnits>
inline void DenseBlock(const float* in, const float* weights, size_t depth, size_t units,
                       float* out) {
  float sums[kUnits] = {};
  for (size_t d = 0; d < depth; ++d) {
    const float* row = weights + d * units;
    for (size_t u = 0; u < kUnits; ++u) sums[u] += in[d] * row[u];
  }
  std::memcpy(out, sums, sizeof(sums));
}

void Dense(const float* in, const float* weights, size_t depth, size_t units, float* out) {
  size_t u = 0;
  for (; u + 32 <= units; u += 32) DenseBlock<32>(in, weights + u, depth, units, out + u);
  for (; u + 8 <= units; u += 8) DenseBlock<8>(in, weights + u, depth, units, out + u);
  for (; u < units; ++u) DenseBlock<1>(in, weights + u, depth, units, out + u);
}

void Add(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(a[i] + b[i], range);
}

void Multiply(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(a[i] * b[i], range);
}

void AddChannels(const float* a, const float* b, size_t rows, size_t channels, FloatRange range,
                 float* out) {
  for (size_t i = 0; i < rows; ++i) Add(a + i * channels, b, channels, range, out + i * channels);
}

void MultiplyChannels(const float* a, const float* b, size_t rows, size_t channels,
                      FloatRange range, float* out) {
  for (size_t i = 0; i < rows; ++i) {
    Multiply(a + i * channels, b, channels, range, out + i * channels);
  }
}

void ClampAll(const float* in, size_t count, FloatRange range, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(in[i], range);
}

void Prelu(const float* in, const float* slopes, size_t rows, size_t channels, float* out) {
  for (size_t i = 0; i < rows; ++i, in += channels, out += channels) {
    for (size_t c = 0; c < channels; ++c) out[c] = PreluOf(in[c], slopes[c]);
  }
}

template <typename T>
void ScaleBytes(const T* __restrict in, size_t count, int32_t zero_point, float scale,
                float* __restrict out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i] - zero_point) * scale;
}

void AddShifted(const int32_t* __restrict in, size_t count, int shift, int32_t* __restrict acc) {
  for (size_t i = 0; i < count; ++i) acc[i] += in[i] << shift;
}

constexpr PixelOps kPixelOpsLoops = {
    .add_shifted = AddShifted,
    .to_float = ToFloat,
    .to_int8 = ToInt8,
    .to_bits = ToBits,
    .round_sums = RoundSums,
    .round_floats = RoundFloats,
    .add_int8_products = AddInt8Products,
    .sum_int8_windows = nullptr,
    .max_int8 = MaxInt8,
    .add_int8 = AddInt8,
    .multiply_int8 = MultiplyInt8,
    .bitpack_float = BitpackFloatRows,
    .bitpack_float_limits = BitpackFloatLimitsRows,
    .bitpack_int8 = BitpackInt8Rows,
    .bitpack_bool = BitpackBoolRows,
    .unpack_float = UnpackFloatRows,
    .unpack_int8 = UnpackInt8Rows,
    .unpack_bool = UnpackBoolRows,
    .max_bits = MaxBits,
    .max_float = MaxFloat,
    .max_products = MaxProducts,
    .average = Average,
    .dense = Dense,
    .add = Add,
    .multiply = Multiply,
    .add_channels = AddChannels,
    .multiply_channels = MultiplyChannels,
    .clamp = ClampAll,
    .prelu = Prelu,
    .scale_uint8 = ScaleBytes<uint8_t>,
    .scale_int8 = ScaleBytes<int8_t>,
    .softmax = Softmax<GreatestOf>,
    .logistic = Logistic,
    .sum = SumRows,
    .pair_loop = PairLoopOf,
    .value_loop = ValueLoopOf,
};

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_LOOPS_H_
