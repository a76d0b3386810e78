// PixelOps with AVX2: shared loops, and what only AVX2 does so.
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx2.h"

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/pixels/pixel_ops_masks.h"
#include "larq_engine/kernels/pixels/x86/deal_rows.h"
#include "larq_engine/kernels/pixels/x86/join_rows.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

// Returns the values of four vectors of int32, saturated to bytes, in order.
inline __m256i PackBytes(__m256i v0, __m256i v1, __m256i v2, __m256i v3) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(v0, v1), _mm256_packs_epi32(v2, v3));
  // Packing works in each half of a register separately, so groups of four from the halves
  // alternate.
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

struct Vec8 : DealsWithAvx2 {
  using Floats = __m256;
  using Ints = __m256i;
  static constexpr size_t kLanes = 8;
  static constexpr size_t kBlock = 4;
  static constexpr bool kClampsAreCheap = true;
  static constexpr bool kHoldsChannels = true;
  static constexpr bool kMasksLanes = false;
  static Floats Set(float value) { return _mm256_set1_ps(value); }
  static Floats Load(const float* from) { return _mm256_loadu_ps(from); }
  static Ints LoadInts(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static void Store(float* to, Floats x) { _mm256_storeu_ps(to, x); }
  static void StoreInts(void* to, Ints x) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
  static Floats Add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats Multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats Divide(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  static Floats Greater(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats Lesser(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats Prelu(Floats x, Floats slope) {
    const Floats negative = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ);
    return _mm256_blendv_ps(x, _mm256_mul_ps(x, slope), negative);
  }
  static Ints SetInts(int32_t value) { return _mm256_set1_epi32(value); }
  static Ints AddInts(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  static Ints SubtractInts(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  static Ints GreaterInts(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
  static Ints LesserInts(Ints a, Ints b) { return _mm256_min_epi32(a, b); }
  static Ints Twice(Ints x) { return _mm256_add_epi32(x, x); }
  static Ints Half(Ints x) { return _mm256_srai_epi32(x, 1); }
  static Ints ShiftUp(Ints x, int bits) { return _mm256_sll_epi32(x, _mm_cvtsi32_si128(bits)); }
  static Ints And(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  static Ints AndNot(Ints a, Ints b) { return _mm256_andnot_si256(a, b); }
  static Floats ToFloats(Ints x) { return _mm256_cvtepi32_ps(x); }
  static Ints Truncate(Floats x) { return _mm256_cvttps_epi32(x); }
  static Floats Xor(Floats x, Ints bits) { return _mm256_xor_ps(x, _mm256_castsi256_ps(bits)); }
  static Floats WithBits(Floats a, Floats b, Floats mask) {
    return _mm256_or_ps(a, _mm256_and_ps(b, mask));
  }

  using Mask = Ints;
  using Word = uint32_t;
  static Mask Less(Floats a, Floats b) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  static Mask LessInts(Ints a, Ints b) { return _mm256_cmpgt_epi32(b, a); }
  static uint32_t Bits(Mask m) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(m)));
  }
  static Word Bits(Mask m0, Mask m1, Mask m2, Mask m3) {
    return static_cast<Word>(_mm256_movemask_epi8(PackBytes(m0, m1, m2, m3)));
  }

  template <typename T>
  static const T* InOneRegister(const T* tap) {
    return tap;
  }
  template <typename Body>
  static void ForRest(size_t count, const Body& body) {
    for (size_t i = 0; i < count; ++i) body(OneValue(), i);
  }
};

struct Bytes32 : DealsWithAvx2 {
  using Mask = __m256i;
  using Word = uint32_t;
  static constexpr size_t kLanes = 32;
  static __m256i Set(int8_t value) { return _mm256_set1_epi8(value); }
  static __m256i Load(const void* from) { return Vec8::LoadInts(from); }
  static Mask Less(__m256i a, __m256i b) { return _mm256_cmpgt_epi8(b, a); }
  static Mask IsZero(__m256i a) { return _mm256_cmpeq_epi8(a, _mm256_setzero_si256()); }
  static Word Bits(Mask mask) { return static_cast<Word>(_mm256_movemask_epi8(mask)); }
  template <typename Body>
  static void ForRest(size_t count, const Body& body) {
    for (size_t i = 0; i < count; ++i) body(OneByte(), i);
  }
};

constexpr size_t kLanes = Vec8::kLanes;

// A vector of bytes takes four vectors of accumulators, which leave no registers for multipliers.
template <bool kClamp>
inline size_t ToInt8Blocks(const TransformArgs& args) {
  const RoundVector<Vec8> rounded{Int8Ends(args.zero_point)};
  const AffineVector<Vec8, kClamp> affine(args);
  const size_t channels = args.channels / kWordBits * kWordBits;
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const __m256i depth = Vec8::SetInts(args.depth[i]);
    int8_t* out = OutRow<int8_t>(args, i);
    const auto eight = [&](size_t c) {
      return rounded(affine(depth, Vec8::LoadInts(acc + c), Vec8::Load(args.multiplier + c),
                            Vec8::Load(args.bias + c)));
    };
    for (size_t c = 0; c < channels; c += 4 * kLanes) {
      Vec8::StoreInts(out + c, PackBytes(eight(c), eight(c + kLanes), eight(c + 2 * kLanes),
                                         eight(c + 3 * kLanes)));
    }
  }
  return channels;
}

void ToInt8Avx2(const TransformArgs& given) {
  const TransformArgs args = given;
  const size_t done = Clamps(args) ? ToInt8Blocks<true>(args) : ToInt8Blocks<false>(args);
  if (done < args.channels) ToInt8(ChannelsOf(args, done, args.channels - done, done));
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
        _mm256_sub_epi32(to_sign, _mm256_set1_epi32(static_cast<int32_t>(v * kLanes)));
    const __m256i negative = _mm256_and_si256(_mm256_sllv_epi32(words, shifts), sign);
    Vec8::StoreInts(out + v * kLanes, _mm256_or_si256(one, negative));
  }
}

// Unpacks rows one by one. The last word has kVectors vectors, the last of which may run into the
// rows after it.
template <size_t kVectors>
inline void UnpackLanes(const uint32_t* in, size_t rows, size_t channels, float* out) {
  const size_t rows_before = RowsBefore((kLanes - channels % kLanes) % kLanes, rows, channels);
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
  switch ((channels - 1) % kWordBits / kLanes) {
    case 0:
      return UnpackLanes<1>(in, rows, channels, out);
    case 1:
      return UnpackLanes<2>(in, rows, channels, out);
    case 2:
      return UnpackLanes<3>(in, rows, channels, out);
    default:
      return UnpackLanes<4>(in, rows, channels, out);
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
    Vec8::StoreInts(to, _mm256_blendv_epi8(pluses, minuses, _mm256_cmpeq_epi8(tested, bit)));
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

constexpr size_t kWindow = 3;  // lines and columns of the windows below

// The operands of windows for some channels.
struct Windows {
  const int8_t* lines[kWindow];
  const int8_t* weights;
  const int32_t* bias;
  size_t channels;  // of a pixel

  // Returns the operands from a channel on, some columns later.
  Windows From(size_t channel, size_t columns) const {
    Windows from = *this;
    for (const int8_t*& line : from.lines) line += columns * channels + channel;
    from.weights += channel;
    from.bias += channel;
    return from;
  }
};

// Returns eight values of a line and of the next one, side by side in 16 bits: the first of both,
// and so on.
inline __m256i PairsOf(const int8_t* line, const int8_t* next) {
  const auto load = [](const int8_t* from) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  };
  return _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(load(line), load(next)));
}

// Returns eight values in 32 bits.
inline __m256i ValuesOf(const int8_t* line) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(line)));
}

// Computes eight channels of kPixels pixels. VPMADDWD multiplies two lines of a column and adds the
// products; the third line is alone. Each column is made ready once for all of its pixels.
template <int kPixels, int kStep>
inline void SumEightChannels(const Windows& windows, int32_t* sums) {
  constexpr int kTaps = kWindow;
  const auto& [lines, weights, bias, channels] = windows;
  const __m256i low_halves = _mm256_set1_epi32(0xffff);
  __m256i of_two[kTaps], of_third[kTaps];
#pragma GCC unroll 3
  for (int t = 0; t < kTaps; ++t) {
    const int8_t* const from = weights + static_cast<size_t>(t) * channels;
    of_two[t] = PairsOf(from, from + kWindow * channels);
    of_third[t] = _mm256_and_si256(ValuesOf(from + 2 * kWindow * channels), low_halves);
  }
  __m256i sum[kPixels];
#pragma GCC unroll 8
  for (__m256i& one : sum) one = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bias));
  size_t at = 0;
#pragma GCC unroll 32
  for (int x = 0; x < (kPixels - 1) * kStep + kTaps; ++x, at += channels) {
    const __m256i two = PairsOf(lines[0] + at, lines[1] + at);
    const __m256i third = ValuesOf(lines[2] + at);
#pragma GCC unroll 3
    for (int t = 0; t < kTaps; ++t) {
      const int pixel = (x - t) / kStep;
      if (x < t || (x - t) % kStep != 0 || pixel >= kPixels) continue;
      sum[pixel] = _mm256_add_epi32(sum[pixel], _mm256_madd_epi16(two, of_two[t]));
      sum[pixel] = _mm256_add_epi32(sum[pixel], _mm256_madd_epi16(third, of_third[t]));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + static_cast<size_t>(i) * channels),
                        sum[i]);
  }
}

inline void SumOneChannel(const Windows& windows, size_t pixels, size_t step, int32_t* sums) {
  const size_t channels = windows.channels;
  for (size_t i = 0; i < pixels; ++i) {
    auto sum = static_cast<uint32_t>(*windows.bias);
    for (size_t tap = 0; tap < kWindow * kWindow; ++tap) {
      const int8_t* const line = windows.lines[tap / kWindow];
      const size_t column = i * step + tap % kWindow;
      sum += static_cast<uint32_t>(line[column * channels] * windows.weights[tap * channels]);
    }
    sums[i * channels] = static_cast<int32_t>(sum);
  }
}

template <int kPixels, int kStep>
void SumWindows(const Windows& windows, int32_t* sums) {
  size_t c = 0;
  for (; c + Vec8::kLanes <= windows.channels; c += Vec8::kLanes) {
    SumEightChannels<kPixels, kStep>(windows.From(c, 0), sums + c);
  }
  for (; c < windows.channels; ++c) {
    SumOneChannel(windows.From(c, 0), kPixels, kStep, sums + c);
  }
}

template <int kStep>
void SumLine(const Windows& windows, size_t pixels, int32_t* sums) {
  size_t done = 0;
  const auto sum = [&]<int kPixels>() {
    for (; done + kPixels <= pixels; done += kPixels) {
      SumWindows<kPixels, kStep>(windows.From(0, done * kStep), sums + done * windows.channels);
    }
  };
  sum.template operator()<8>();
  sum.template operator()<4>();
  sum.template operator()<2>();
  sum.template operator()<1>();
}

void SumInt8WindowsAvx2(const int8_t* const* lines, const int8_t* weights, const int32_t* bias,
                        size_t pixels, size_t step, size_t channels, int32_t* sums) {
  const Windows windows = {.lines = {lines[0], lines[1], lines[2]},
                           .weights = weights,
                           .bias = bias,
                           .channels = channels};
  if (step == 1) return SumLine<1>(windows, pixels, sums);
  if (step == 2) return SumLine<2>(windows, pixels, sums);
  for (size_t i = 0; i < pixels; ++i) {
    SumWindows<1, 1>(windows.From(0, i * step), sums + i * channels);
  }
}

constexpr PixelOps WithAvx2() {
  PixelOps ops = WithMasks<Vec8, Bytes32>();
  ops.to_int8 = ToInt8Avx2;
  ops.sum_int8_windows = SumInt8WindowsAvx2;
  ops.unpack_float = UnpackFloatAvx2;
  ops.unpack_int8 = UnpackInt8Avx2;
  ops.unpack_bool = UnpackBoolAvx2;
  return ops;
}

}  // namespace

constexpr PixelOps kPixelOpsAvx2 = WithAvx2();

}  // namespace larq_engine
