// PixelOps with AVX2: the loops of pixel_ops_loops.h where the compiler vectorises them well, and
// hand-written code where values become bits or bits become values.
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx2.h"

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/pixels/pixel_ops_loops.h"
#include "larq_engine/kernels/pixels/x86/deal_rows.h"
#include "larq_engine/kernels/pixels/x86/join_rows.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kFloats = 8;  // in a vector

inline __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline void Store(void* to, __m256i values) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), values);
}
inline uint32_t TopBits(__m256i bytes) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
}

// Returns the values of four vectors of int32, saturated to bytes, in order.
inline __m256i PackBytes(__m256i v0, __m256i v1, __m256i v2, __m256i v3) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(v0, v1), _mm256_packs_epi32(v2, v3));
  // Packing works in each half of a register separately, so groups of four from the halves
  // alternate.
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Makes the bits of less than a word of channels. It uses no masked loads, because emulators read
// what the mask leaves out.
inline uint32_t ToBitsTail(const int32_t* acc, const int32_t* limit, size_t count, int32_t depth) {
  uint32_t word = 0;
  size_t c = 0;
  for (; c + kFloats <= count; c += kFloats) {
    const __m256i a = Load(acc + c);
    const __m256i dot = _mm256_sub_epi32(_mm256_set1_epi32(depth), _mm256_add_epi32(a, a));
    const __m256 less = _mm256_castsi256_ps(_mm256_cmpgt_epi32(Load(limit + c), dot));
    word |= static_cast<uint32_t>(_mm256_movemask_ps(less)) << c;
  }
  for (; c < count; ++c) word |= static_cast<uint32_t>(Dot(depth, acc[c]) < limit[c]) << c;
  return word;
}

void ToBitsAvx2(const TransformArgs& given) {
  const TransformArgs args = given;
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    const __m256i depths = _mm256_set1_epi32(depth);
    const auto compare = [&](size_t c) {
      const __m256i a = Load(acc + c);
      const __m256i dot = _mm256_sub_epi32(depths, _mm256_add_epi32(a, a));
      return _mm256_cmpgt_epi32(Load(args.dot_limit + c), dot);
    };
    uint32_t* out = OutRow<uint32_t>(args, i);
    size_t c = 0;
    for (; c + kWordBits <= args.channels; c += kWordBits) {
      *out++ = TopBits(PackBytes(compare(c), compare(c + kFloats), compare(c + 2 * kFloats),
                                 compare(c + 3 * kFloats)));
    }
    if (c < args.channels) {
      *out = ToBitsTail(acc + c, args.dot_limit + c, args.channels - c, depth);
    }
  }
}

// Packs rows that lie one after the other: word(at) packs the values from `at` on.
template <typename Word, typename IsSet>
inline void PackRowsAvx2(size_t rows, size_t channels, const Word& word, const IsSet& is_set,
                         uint32_t* out) {
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    PackRow(
        count, [&](size_t c) { return word(first + c); },
        [&](size_t c) { return is_set(first + c); }, to);
  };
  PackRows(rows, channels, pack, DealRowsAvx2, out);
}

void BitpackFloatAvx2(const float* in, size_t rows, size_t channels, uint32_t* out) {
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i limit = _mm256_set1_epi32(kMinusInfinityBits);
  const auto negative = [&](size_t at) {
    return _mm256_cmpgt_epi32(limit, _mm256_sub_epi32(Load(in + at), one));
  };
  const auto word = [&](size_t at) {
    return TopBits(PackBytes(negative(at), negative(at + kFloats), negative(at + 2 * kFloats),
                             negative(at + 3 * kFloats)));
  };
  PackRowsAvx2(
      rows, channels, word, [in](size_t at) { return IsNegative(in + at); }, out);
}

// Does the same as IsBelow for eight values; a lane has all bits set if its value is below.
inline __m256i AreBelow(const float* x, __m256 limit, __m256 sign) {
  const __m256 turned = _mm256_xor_ps(_mm256_loadu_ps(x), sign);
  return _mm256_castps_si256(_mm256_cmp_ps(turned, limit, _CMP_LT_OQ));
}

// Packs 32 channels of all rows, whose limits and signs stay in registers.
inline void BitpackFloatLimitsWords(const float* in, const float* limits, const uint32_t* signs,
                                    size_t rows, size_t channels, uint32_t* out,
                                    size_t out_stride) {
  constexpr size_t kVectors = kWordBits / kFloats;
  __m256 limit[kVectors], sign[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    limit[v] = _mm256_loadu_ps(limits + v * kFloats);
    sign[v] = _mm256_castsi256_ps(Load(signs + v * kFloats));
  }
  for (size_t i = 0; i < rows; ++i, in += channels, out += out_stride) {
    const auto below = [&](size_t v) { return AreBelow(in + v * kFloats, limit[v], sign[v]); };
    *out = TopBits(PackBytes(below(0), below(1), below(2), below(3)));
  }
}

void BitpackFloatLimitsAvx2(const float* in, const float* limits, const uint32_t* signs,
                            size_t rows, size_t channels, uint32_t* out, size_t out_stride) {
  if (rows == 0) return;
  if (channels % kWordBits == 0) {
    for (size_t c = 0; c < channels; c += kWordBits) {
      BitpackFloatLimitsWords(in + c, limits + c, signs + c, rows, channels, out++, out_stride);
    }
    return;
  }
  const auto pack = [](const float* x, const float* limit, const uint32_t* sign, size_t count,
                       uint32_t* to) {
    const auto below = [&](size_t c) {
      return AreBelow(x + c, _mm256_loadu_ps(limit + c), _mm256_castsi256_ps(Load(sign + c)));
    };
    const auto word = [&](size_t c) {
      return TopBits(
          PackBytes(below(c), below(c + kFloats), below(c + 2 * kFloats), below(c + 3 * kFloats)));
    };
    PackRow(
        count, word, [&](size_t c) { return IsBelow(x[c], limit[c], sign[c]); }, to);
  };
  PackLimitRows(in, limits, signs, rows, channels, pack, DealRowsAvx2, out, out_stride);
}

void BitpackInt8Avx2(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                     uint32_t* out) {
  // Above 127 all values are smaller than the zero point, and no int8 can express it as a limit.
  const uint32_t all = zero_point > 127 ? ~0u : 0u;
  const __m256i limit = _mm256_set1_epi8(static_cast<int8_t>(zero_point < -128  ? -128
                                                             : zero_point > 127 ? 127
                                                                                : zero_point));
  PackRowsAvx2(
      rows, channels,
      [&](size_t at) { return TopBits(_mm256_cmpgt_epi8(limit, Load(in + at))) | all; },
      [&](size_t at) { return in[at] < zero_point; }, out);
}

void BitpackBoolAvx2(const uint8_t* in, size_t rows, size_t channels, uint32_t* out) {
  const __m256i zero = _mm256_setzero_si256();
  PackRowsAvx2(
      rows, channels, [&](size_t at) { return TopBits(_mm256_cmpeq_epi8(Load(in + at), zero)); },
      [in](size_t at) { return in[at] == 0; }, out);
}

// Unpacks rows: word(bits, to) makes a word of values.
template <typename T, typename Word>
inline void UnpackRowsAvx2(const uint32_t* in, size_t rows, size_t channels, bool joined,
                           const Word& word, T* out) {
  const auto unpack = [&](const uint32_t* words, size_t first, size_t count, size_t spare) {
    T* to = out + first;
    for (; count >= kWordBits; count -= kWordBits, to += kWordBits) word(*words++, to);
    if (count == 0) return;
    if (spare >= kWordBits) return word(*words, to);
    T last[kWordBits];
    word(*words, last);
    std::memcpy(to, last, count * sizeof(T));
  };
  UnpackRows(in, rows, channels, joined, JoinRowsAvx2, unpack);
}

// Unpacks the first kVectors of a word's floats: each lane shifts its bit to the float's sign.
template <size_t kVectors>
inline void UnpackWord(uint32_t word, float* out) {
  const __m256i to_sign = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
  const __m256i sign = _mm256_set1_epi32(INT32_MIN);
  const __m256i one = _mm256_castps_si256(_mm256_set1_ps(1.0f));
  const __m256i words = _mm256_set1_epi32(static_cast<int32_t>(word));
  for (size_t v = 0; v < kVectors; ++v) {
    const __m256i shifts =
        _mm256_sub_epi32(to_sign, _mm256_set1_epi32(static_cast<int32_t>(v * kFloats)));
    const __m256i negative = _mm256_and_si256(_mm256_sllv_epi32(words, shifts), sign);
    Store(out + v * kFloats, _mm256_or_si256(one, negative));
  }
}

// Unpacks rows one by one. The last word has kVectors vectors, the last of which may run into the
// rows after it.
template <size_t kVectors>
inline void UnpackFloats(const uint32_t* in, size_t rows, size_t channels, float* out) {
  const size_t rows_before = RowsBefore((kFloats - channels % kFloats) % kFloats, rows, channels);
  if (channels <= kWordBits) {
    for (size_t i = 0; i < rows_before; ++i, out += channels) UnpackWord<kVectors>(*in++, out);
  } else {
    const size_t whole = (channels - 1) / kWordBits;
    for (size_t i = 0; i < rows_before; ++i, out += channels) {
      for (size_t w = 0; w < whole; ++w) UnpackWord<4>(*in++, out + w * kWordBits);
      UnpackWord<kVectors>(*in++, out + whole * kWordBits);
    }
  }
  UnpackFloatRows(in, rows - rows_before, channels, out);
}

void UnpackFloatAvx2(const uint32_t* in, size_t rows, size_t channels, float* out) {
  // Stores across two cache lines cost more than joining; rows of whole or half vectors have few of
  // them.
  const bool joined = channels <= 12 || (channels < 2 * kWordBits && channels % 4 != 0);
  if (joined || channels % kWordBits == 0) {
    const auto word = [](uint32_t bits, float* to) { UnpackWord<4>(bits, to); };
    return UnpackRowsAvx2(in, rows, channels, joined, word, out);
  }
  switch ((channels - 1) % kWordBits / kFloats) {
    case 0:
      return UnpackFloats<1>(in, rows, channels, out);
    case 1:
      return UnpackFloats<2>(in, rows, channels, out);
    case 2:
      return UnpackFloats<3>(in, rows, channels, out);
    default:
      return UnpackFloats<4>(in, rows, channels, out);
  }
}

// T is a byte.
template <typename T>
inline void UnpackBytes(const uint32_t* in, size_t rows, size_t channels, T plus, T minus, T* out) {
  const __m256i pluses = _mm256_set1_epi8(static_cast<char>(plus));
  const __m256i minuses = _mm256_set1_epi8(static_cast<char>(minus));
  // `copies` makes eight copies of each byte of the word, and `bit` is the bit that each copy
  // tests.
  const __m256i copies =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
  const auto word = [&](uint32_t bits, T* to) {
    const __m256i words = _mm256_set1_epi32(static_cast<int32_t>(bits));
    const __m256i tested = _mm256_and_si256(_mm256_shuffle_epi8(words, copies), bit);
    Store(to, _mm256_blendv_epi8(pluses, minuses, _mm256_cmpeq_epi8(tested, bit)));
  };
  UnpackRowsAvx2(in, rows, channels, channels < 3 * kWordBits / 2, word, out);
}

void UnpackInt8Avx2(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                    int8_t* out) {
  UnpackBytes(in, rows, channels, plus, minus, out);
}

void UnpackBoolAvx2(const uint32_t* in, size_t rows, size_t channels, uint8_t* out) {
  UnpackBytes<uint8_t>(in, rows, channels, 1, 0, out);
}

// y = clamp(dot) * multiplier + bias, for a vector of accumulators.
template <bool kClamp>
struct AffineVector {
  __m256i dot_min;
  __m256i dot_max;
  explicit AffineVector(const TransformArgs& args)
      : dot_min(_mm256_set1_epi32(args.dot_min)), dot_max(_mm256_set1_epi32(args.dot_max)) {}
  __m256 operator()(__m256i depth, __m256i acc, __m256 multiplier, __m256 bias) const {
    __m256i dot = _mm256_sub_epi32(depth, _mm256_add_epi32(acc, acc));
    if (kClamp) dot = _mm256_min_epi32(_mm256_max_epi32(dot, dot_min), dot_max);
    return _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(dot), multiplier), bias);
  }
};

// The processor's minimum and maximum return their second operand when either is NaN or both are
// zero, which is what `a < b ? a : b` says.
struct ClampVector {
  __m256 min;
  __m256 max;
  explicit ClampVector(FloatRange range)
      : min(_mm256_set1_ps(range.min)), max(_mm256_set1_ps(range.max)) {}
  __m256 operator()(__m256 x) const { return _mm256_min_ps(max, _mm256_max_ps(min, x)); }
};

inline __m256 PreluVector(__m256 x, __m256 slope) {
  const __m256 negative = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ);
  return _mm256_blendv_ps(x, _mm256_mul_ps(x, slope), negative);
}

// Computes all rows of kVectors vectors of channels, whose multipliers and biases are loaded once.
template <bool kClamp, Sum kSum, size_t kVectors>
inline void ToFloatChannels(const TransformArgs& args, size_t channel) {
  const AffineVector<kClamp> affine(args);
  const ClampVector clamp(args.sum.range);
  __m256 multiplier[kVectors], bias[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    multiplier[v] = _mm256_loadu_ps(args.multiplier + channel + v * kFloats);
    bias[v] = _mm256_loadu_ps(args.bias + channel + v * kFloats);
  }
  const int32_t* acc = args.acc + channel;
  for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
    const __m256i depth = _mm256_set1_epi32(args.depth[i]);
    float* out = OutRow<float>(args, i) + channel;
    const float* addend = kSum == Sum::kNone ? nullptr : AddendRow(args, i) + channel;
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      __m256 y = affine(depth, Load(acc + v * kFloats), multiplier[v], bias[v]);
      const size_t at = channel + v * kFloats;
      if (IsGated(kSum)) {
        y = _mm256_mul_ps(y, _mm256_loadu_ps(args.sum.gate + at));
        y = PreluVector(y, _mm256_loadu_ps(args.sum.slopes + at));
      }
      if (kSum != Sum::kNone) y = _mm256_add_ps(y, _mm256_loadu_ps(addend + v * kFloats));
      if (IsClamped(kSum)) y = clamp(y);
      _mm256_storeu_ps(out + v * kFloats, y);
    }
  }
}

template <bool kClamp, Sum kSum>
inline void ToFloatRows(const TransformArgs& args) {
  size_t c = 0;
  for (; c + 4 * kFloats <= args.channels; c += 4 * kFloats) {
    ToFloatChannels<kClamp, kSum, 4>(args, c);
  }
  for (; c + kFloats <= args.channels; c += kFloats) ToFloatChannels<kClamp, kSum, 1>(args, c);
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    float* out = OutRow<float>(args, i);
    for (size_t j = c; j < args.channels; ++j) {
      const float y = Affine<kClamp>(args, acc[j], args.depth[i], j);
      out[j] = kSum == Sum::kNone ? y : Summed<kSum>(args.sum, y, AddendRow(args, i)[j], j);
    }
  }
}

template <bool kClamp>
inline void ToFloatRows(const TransformArgs& args) {
  switch (FormOf(args.sum)) {
    case Sum::kNone:
      return ToFloatRows<kClamp, Sum::kNone>(args);
    case Sum::kPlain:
      return ToFloatRows<kClamp, Sum::kPlain>(args);
    case Sum::kClamped:
      return ToFloatRows<kClamp, Sum::kClamped>(args);
    case Sum::kGated:
      return ToFloatRows<kClamp, Sum::kGated>(args);
    case Sum::kGatedAndClamped:
      return ToFloatRows<kClamp, Sum::kGatedAndClamped>(args);
  }
}

void ToFloatAvx2(const TransformArgs& given) {
  const TransformArgs args = given;  // a copy, which writing the output cannot change
  if (Clamps(args)) {
    ToFloatRows<true>(args);
  } else {
    ToFloatRows<false>(args);
  }
}

template <bool kClamp>
inline void ToInt8Rows(const TransformArgs& args) {
  const Int8Ends ends(args.zero_point);
  const __m256 lowest = _mm256_set1_ps(ends.lowest);
  const __m256 highest = _mm256_set1_ps(ends.highest);
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 half = _mm256_set1_ps(kBelowHalf);
  const __m256i zero_point = _mm256_set1_epi32(args.zero_point);
  const AffineVector<kClamp> affine(args);
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const __m256i depth = _mm256_set1_epi32(args.depth[i]);
    int8_t* __restrict out = OutRow<int8_t>(args, i);
    const auto eight = [&](size_t j) {
      __m256 y = affine(depth, Load(acc + j), _mm256_loadu_ps(args.multiplier + j),
                        _mm256_loadu_ps(args.bias + j));
      // The processor's maximum returns its second operand when the first is NaN.
      y = _mm256_min_ps(_mm256_max_ps(y, lowest), highest);
      y = _mm256_add_ps(y, _mm256_or_ps(half, _mm256_and_ps(y, sign)));
      return _mm256_add_epi32(_mm256_cvttps_epi32(y), zero_point);
    };
    size_t j = 0;
    for (; j + 4 * kFloats <= args.channels; j += 4 * kFloats) {
      Store(out + j, PackBytes(eight(j), eight(j + kFloats), eight(j + 2 * kFloats),
                               eight(j + 3 * kFloats)));
    }
    for (; j < args.channels; ++j) {
      out[j] = ends.Rounded(Affine<kClamp>(args, acc[j], args.depth[i], j));
    }
  }
}

void ToInt8Avx2(const TransformArgs& given) {
  const TransformArgs args = given;
  if (Clamps(args)) {
    ToInt8Rows<true>(args);
  } else {
    ToInt8Rows<false>(args);
  }
}

// out = op(a, b) with one value of b a channel, which is loaded once for all rows, for kVectors
// vectors of channels.
template <size_t kVectors, typename Op>
inline void ForVectorsOfChannels(const float* a, const float* b, size_t rows, size_t channels,
                                 float* out, const Op& op) {
  __m256 of_channels[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) of_channels[v] = _mm256_loadu_ps(b + v * kFloats);
  for (size_t i = 0; i < rows; ++i, a += channels, out += channels) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const __m256 x = _mm256_loadu_ps(a + v * kFloats);
      _mm256_storeu_ps(out + v * kFloats, op(x, of_channels[v]));
    }
  }
}

// Computes all channels that fill whole vectors, and returns the first of the others.
template <typename Op>
inline size_t ForChannels(const float* a, const float* b, size_t rows, size_t channels, float* out,
                          const Op& op) {
  if (rows == 0) return 0;  // b may be null then
  size_t c = 0;
  for (; c + 4 * kFloats <= channels; c += 4 * kFloats) {
    ForVectorsOfChannels<4>(a + c, b + c, rows, channels, out + c, op);
  }
  for (; c + kFloats <= channels; c += kFloats) {
    ForVectorsOfChannels<1>(a + c, b + c, rows, channels, out + c, op);
  }
  return c;
}

template <size_t kCount>
struct Vectors {};

// Calls block(Vectors<n>, at) for n vectors at a time; returns the first value that is left. gcc 12
// turns loops over values into loops of one vector, which take twice as long in L1.
template <typename Block>
inline size_t ForBlocks(size_t count, const Block& block) {
  size_t at = 0;
  for (; at + 4 * kFloats <= count; at += 4 * kFloats) block(Vectors<4>(), at);
  for (; at + kFloats <= count; at += kFloats) block(Vectors<1>(), at);
  return at;
}

// out = vector(at); returns the first value that is left.
template <typename Vector>
inline size_t ForVectors(size_t count, const Vector& vector, float* out) {
  return ForBlocks(count, [&]<size_t kCount>(Vectors<kCount>, size_t at) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kCount; ++v, at += kFloats) _mm256_storeu_ps(out + at, vector(at));
  });
}

// out = clamp(op(a, b)); rest(...) does the same value by value.
template <typename Op, typename Rest>
inline void ForPairs(const float* a, const float* b, size_t count, FloatRange range, float* out,
                     const Op& op, const Rest& rest) {
  const ClampVector clamp(range);
  const auto vector = [&](size_t at) {
    return clamp(op(_mm256_loadu_ps(a + at), _mm256_loadu_ps(b + at)));
  };
  const size_t done = ForVectors(count, vector, out);
  rest(a + done, b + done, count - done, range, out + done);
}

void AddAvx2(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  ForPairs(
      a, b, count, range, out, [](__m256 x, __m256 y) { return _mm256_add_ps(x, y); }, Add);
}

void MultiplyAvx2(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  ForPairs(
      a, b, count, range, out, [](__m256 x, __m256 y) { return _mm256_mul_ps(x, y); }, Multiply);
}

void ClampAvx2(const float* in, size_t count, FloatRange range, float* out) {
  const ClampVector clamp(range);
  const auto vector = [&](size_t at) { return clamp(_mm256_loadu_ps(in + at)); };
  const size_t done = ForVectors(count, vector, out);
  ClampAll(in + done, count - done, range, out + done);
}

// Reduces all taps of some values, which stay in registers from the first tap to the last.
// load(tap, at) returns a vector of them.
template <typename Load>
inline size_t MaxBlocks(const float* const* taps, size_t tap_count, size_t count, const Load& load,
                        float* out) {
  return ForBlocks(count, [&]<size_t kCount>(Vectors<kCount>, size_t at) {
    __m256 most[kCount];
#pragma GCC unroll 4
    for (size_t v = 0; v < kCount; ++v) most[v] = load(taps[0], at + v * kFloats);
    for (size_t tap = 1; tap < tap_count; ++tap) {
      const float* in = taps[tap];
#pragma GCC unroll 4
      for (size_t v = 0; v < kCount; ++v) {
        most[v] = _mm256_max_ps(load(in, at + v * kFloats), most[v]);
      }
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < kCount; ++v) _mm256_storeu_ps(out + at + v * kFloats, most[v]);
  });
}

void MaxFloatAvx2(const float* const* taps, size_t tap_count, size_t count, float* out) {
  const auto load = [](const float* tap, size_t at) { return _mm256_loadu_ps(tap + at); };
  size_t at = MaxBlocks(taps, tap_count, count, load, out);
  for (; at < count; ++at) {
    float most = taps[0][at];
    for (size_t tap = 1; tap < tap_count; ++tap) most = taps[tap][at] > most ? taps[tap][at] : most;
    out[at] = most;
  }
}

void MaxProductsAvx2(const float* const* taps, size_t tap_count, const float* factors, size_t count,
                     float* out) {
  const auto load = [factors](const float* tap, size_t at) {
    return _mm256_mul_ps(_mm256_loadu_ps(tap + at), _mm256_loadu_ps(factors + at));
  };
  const size_t done = MaxBlocks(taps, tap_count, count, load, out);
  MaxProductsFrom(done, taps, tap_count, factors, count, out);
}

void AverageAvx2(const float* const* taps, size_t tap_count, size_t count, float divisor,
                 float* out) {
  const __m256 by = _mm256_set1_ps(divisor);
  size_t at = ForBlocks(count, [&]<size_t kCount>(Vectors<kCount>, size_t at) {
    __m256 sum[kCount];
#pragma GCC unroll 4
    for (size_t v = 0; v < kCount; ++v) sum[v] = _mm256_setzero_ps();
    for (size_t tap = 0; tap < tap_count; ++tap) {
      const float* in = taps[tap] + at;
#pragma GCC unroll 4
      for (size_t v = 0; v < kCount; ++v) {
        sum[v] = _mm256_add_ps(sum[v], _mm256_loadu_ps(in + v * kFloats));
      }
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < kCount; ++v) {
      const __m256 average = divisor == 1.0f ? sum[v] : _mm256_div_ps(sum[v], by);
      _mm256_storeu_ps(out + at + v * kFloats, average);
    }
  });
  for (; at < count; ++at) {
    float sum = 0.0f;
    for (size_t tap = 0; tap < tap_count; ++tap) sum += taps[tap][at];
    out[at] = sum / divisor;
  }
}

void AddChannelsAvx2(const float* a, const float* b, size_t rows, size_t channels, FloatRange range,
                     float* out) {
  const ClampVector clamp(range);
  const auto op = [&](__m256 x, __m256 y) { return clamp(_mm256_add_ps(x, y)); };
  const size_t c = ForChannels(a, b, rows, channels, out, op);
  for (size_t i = 0; i < rows && c < channels; ++i, a += channels, out += channels) {
    Add(a + c, b + c, channels - c, range, out + c);
  }
}

void MultiplyChannelsAvx2(const float* a, const float* b, size_t rows, size_t channels,
                          FloatRange range, float* out) {
  const ClampVector clamp(range);
  const auto op = [&](__m256 x, __m256 y) { return clamp(_mm256_mul_ps(x, y)); };
  const size_t c = ForChannels(a, b, rows, channels, out, op);
  for (size_t i = 0; i < rows && c < channels; ++i, a += channels, out += channels) {
    Multiply(a + c, b + c, channels - c, range, out + c);
  }
}

void PreluAvx2(const float* in, const float* slopes, size_t rows, size_t channels, float* out) {
  const auto op = [](__m256 x, __m256 slope) { return PreluVector(x, slope); };
  const size_t c = ForChannels(in, slopes, rows, channels, out, op);
  for (size_t i = 0; i < rows && c < channels; ++i, in += channels, out += channels) {
    Prelu(in + c, slopes + c, 1, channels - c, out + c);
  }
}

constexpr PixelOps WithAvx2() {
  PixelOps ops = kPixelOpsLoops;
  ops.to_float = ToFloatAvx2;
  ops.to_int8 = ToInt8Avx2;
  ops.to_bits = ToBitsAvx2;
  ops.bitpack_float = BitpackFloatAvx2;
  ops.bitpack_float_limits = BitpackFloatLimitsAvx2;
  ops.bitpack_int8 = BitpackInt8Avx2;
  ops.bitpack_bool = BitpackBoolAvx2;
  ops.unpack_float = UnpackFloatAvx2;
  ops.unpack_int8 = UnpackInt8Avx2;
  ops.unpack_bool = UnpackBoolAvx2;
  ops.max_float = MaxFloatAvx2;
  ops.max_products = MaxProductsAvx2;
  ops.average = AverageAvx2;
  ops.add = AddAvx2;
  ops.multiply = MultiplyAvx2;
  ops.clamp = ClampAvx2;
  ops.add_channels = AddChannelsAvx2;
  ops.multiply_channels = MultiplyChannelsAvx2;
  ops.prelu = PreluAvx2;
  return ops;
}

}  // namespace

constexpr PixelOps kPixelOpsAvx2 = WithAvx2();

}  // namespace larq_engine
