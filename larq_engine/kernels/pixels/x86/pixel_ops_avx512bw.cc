// PixelOps in vectors of 64 bytes: shared loops, and what only AVX-512 does so. The end of a row is
// a vector with a mask that leaves out the lanes past the row; these are neither read nor written.
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx512bw.h"

#include <cstring>

// gcc 12 warns about the values that its own header leaves undefined on purpose.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "larq_engine/kernels/pixels/pixel_ops_masks.h"
#include "larq_engine/kernels/pixels/x86/deal_rows.h"
#include "larq_engine/kernels/pixels/x86/join_rows_avx512bw.h"

#if !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine {
namespace {

// Returns a mask of the first `count` lanes, of up to 16 or 64.
inline __mmask16 First16(size_t count) {
  return static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(count)));
}
inline __mmask64 First64(size_t count) { return _bzhi_u64(~uint64_t{0}, count); }

struct Vec16 : DealsWithAvx2 {
  using Floats = __m512;
  using Ints = __m512i;
  static constexpr size_t kLanes = 16;
  static constexpr size_t kBlock = 4;
  static constexpr bool kClampsAreCheap = true;
  static constexpr bool kHoldsChannels = true;
  static constexpr bool kMasksLanes = true;
  static Floats Set(float value) { return _mm512_set1_ps(value); }
  static Floats Load(const float* from) { return _mm512_loadu_ps(from); }
  static Ints LoadInts(const void* from) { return _mm512_loadu_si512(from); }
  static void Store(float* to, Floats x) { _mm512_storeu_ps(to, x); }
  static void StoreInts(void* to, Ints x) { _mm512_storeu_si512(to, x); }
  static Floats Add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats Multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats Divide(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  static Floats Greater(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats Lesser(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats Prelu(Floats x, Floats slope) {
    const __mmask16 negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_mask_mul_ps(x, negative, x, slope);
  }
  static Ints SetInts(int32_t value) { return _mm512_set1_epi32(value); }
  static Ints AddInts(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  static Ints SubtractInts(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  static Ints GreaterInts(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
  static Ints LesserInts(Ints a, Ints b) { return _mm512_min_epi32(a, b); }
  // This is a shift, because gcc 12 turns depth - (acc + acc) into two subtractions that load acc
  // twice.
  static Ints Twice(Ints x) { return _mm512_slli_epi32(x, 1); }
  static Ints Half(Ints x) { return _mm512_srai_epi32(x, 1); }
  static Ints ShiftUp(Ints x, int bits) { return _mm512_sll_epi32(x, _mm_cvtsi32_si128(bits)); }
  static Ints And(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  static Ints AndNot(Ints a, Ints b) { return _mm512_andnot_si512(a, b); }
  static Floats ToFloats(Ints x) { return _mm512_cvtepi32_ps(x); }
  static Ints Truncate(Floats x) { return _mm512_cvttps_epi32(x); }
  static Floats Xor(Floats x, Ints bits) { return _mm512_xor_ps(x, _mm512_castsi512_ps(bits)); }
  static Floats WithBits(Floats a, Floats b, Floats mask) {
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(a), _mm512_castps_si512(b), _mm512_castps_si512(mask), 0xf8));
  }

  using Mask = __mmask16;
  using Word = uint64_t;
  static Mask Less(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static Mask LessInts(Ints a, Ints b) { return _mm512_cmplt_epi32_mask(a, b); }
  static uint32_t Bits(Mask m) { return m; }
  static Word Bits(Mask m0, Mask m1, Mask m2, Mask m3) {
    return _cvtmask64_u64(_mm512_kunpackd(_mm512_kunpackw(m3, m2), _mm512_kunpackw(m1, m0)));
  }

  static void StoreBytes(int8_t* to, Ints x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x));
  }
  template <typename T>
  static const T* InOneRegister(const T* tap) {
    return tap;
  }
  template <typename Body>
  static void ForRest(size_t count, const Body& body);
};

// The first lanes of a vector: the others are 0 if loaded, and are not stored.
struct SomeLanes : Vec16 {
  __mmask16 lanes;
  explicit SomeLanes(size_t count) : lanes(First16(count)) {}
  Floats Load(const float* from) const { return _mm512_maskz_loadu_ps(lanes, from); }
  Ints LoadInts(const void* from) const { return _mm512_maskz_loadu_epi32(lanes, from); }
  void Store(float* to, Floats x) const { _mm512_mask_storeu_ps(to, lanes, x); }
  void StoreBytes(int8_t* to, Ints x) const { _mm512_mask_cvtepi32_storeu_epi8(to, lanes, x); }
  uint32_t Bits(Mask m) const { return _kand_mask16(m, lanes); }
  void StoreInts(void* to, Ints x) const { _mm512_mask_storeu_epi32(to, lanes, x); }
};

template <typename Body>
void Vec16::ForRest(size_t count, const Body& body) {
  if (count > 0) body(SomeLanes(count), 0);
}

struct Bytes64 : DealsWithAvx2 {
  using Mask = __mmask64;
  using Word = uint64_t;
  static constexpr size_t kLanes = 64;
  static __m512i Set(int8_t value) { return _mm512_set1_epi8(value); }
  static __m512i Load(const void* from) { return _mm512_loadu_si512(from); }
  static Mask Less(__m512i a, __m512i b) { return _mm512_cmplt_epi8_mask(a, b); }
  static Mask IsZero(__m512i a) { return _mm512_testn_epi8_mask(a, a); }
  static Word Bits(Mask mask) { return mask; }
  template <typename Body>
  static void ForRest(size_t count, const Body& body);
};

struct SomeBytes : Bytes64 {
  __mmask64 lanes;
  explicit SomeBytes(size_t count) : lanes(First64(count)) {}
  __m512i Load(const void* from) const { return _mm512_maskz_loadu_epi8(lanes, from); }
  Word Bits(Mask mask) const { return mask & lanes; }
};

template <typename Body>
void Bytes64::ForRest(size_t count, const Body& body) {
  body(SomeBytes(count), 0);
}

constexpr size_t kFloats = Vec16::kLanes;

void ToInt8Avx512bw(const TransformArgs& given) {
  const TransformArgs args = given;
  const RoundVector<Vec16> rounded{Int8Ends(args.zero_point)};
  Affine<Vec16>(args, [&](size_t i, size_t channel) {
    int8_t* out = OutRow<int8_t>(args, i) + channel;
    return [&rounded, out](auto v, size_t at, __m512 y) { v.StoreBytes(out + at, rounded(y)); };
  });
}

// Turns kFloats bits of a word, from bit `first` on, into floats: each lane shifts its bit to the
// sign.
struct SignedOnes {
  __m512i to_sign;
  explicit SignedOnes(size_t first)
      : to_sign(_mm512_sub_epi32(
            _mm512_set_epi32(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),
            _mm512_set1_epi32(static_cast<int32_t>(first)))) {}
  __m512 operator()(uint32_t word) const {
    const __m512i words = _mm512_set1_epi32(static_cast<int32_t>(word));
    const __m512i shifted = _mm512_sllv_epi32(words, to_sign);
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    const __m512i one = _mm512_castps_si512(_mm512_set1_ps(1.0f));
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(one, shifted, sign, 0xf8));  // one | (shifted & sign)
  }
};

void UnpackFloat(const uint32_t* in, size_t rows, size_t channels, float* out) {
  const SignedOnes lower(0), upper(kFloats);
  if (channels % kWordBits == kFloats && channels > kFloats) {
    // A row of whole and half words ends with a whole vector, so no lane is wasted.
    for (size_t i = 0; i < rows; ++i, out += kFloats) {
      for (size_t w = 0; w < channels / kWordBits; ++w, ++in, out += kWordBits) {
        _mm512_storeu_ps(out, lower(*in));
        _mm512_storeu_ps(out + kFloats, upper(*in));
      }
      _mm512_storeu_ps(out, lower(*in++));
    }
    return;
  }
  const auto unpack = [&](const uint32_t* words, size_t first, size_t count, size_t spare) {
    float* to = out + first;
    for (; count >= kWordBits; count -= kWordBits, to += kWordBits, ++words) {
      _mm512_storeu_ps(to, lower(*words));
      _mm512_storeu_ps(to + kFloats, upper(*words));
    }
    if (count == 0) return;
    if (count <= kFloats && spare >= kFloats) return _mm512_storeu_ps(to, lower(*words));
    _mm512_mask_storeu_ps(to, First16(count), lower(*words));
    if (count <= kFloats) return;
    _mm512_mask_storeu_ps(to + kFloats, First16(count - kFloats), upper(*words));
  };
  UnpackRows(in, rows, channels, channels < kNarrow, JoinRowsAvx512bw, unpack);
}

inline void UnpackBytes(const uint32_t* in, size_t rows, size_t channels, __m512i plus,
                        __m512i minus, void* out) {
  const auto unpack = [=](const uint32_t* words, size_t first, size_t count, size_t) {
    unsigned char* to = static_cast<unsigned char*>(out) + first;
    for (; count >= kBlockBits<Vec16>;
         count -= kBlockBits<Vec16>, to += kBlockBits<Vec16>, words += 2) {
      uint64_t bits;
      std::memcpy(&bits, words, sizeof(bits));
      _mm512_storeu_si512(to, _mm512_mask_blend_epi8(bits, plus, minus));
    }
    if (count == 0) return;
    uint64_t bits = words[0];
    if (count > kWordBits) bits |= uint64_t{words[1]} << kWordBits;
    _mm512_mask_storeu_epi8(to, First64(count), _mm512_mask_blend_epi8(bits, plus, minus));
  };
  UnpackRows(in, rows, channels, channels < kNarrow, JoinRowsAvx512bw, unpack);
}

void UnpackInt8(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                int8_t* out) {
  UnpackBytes(in, rows, channels, _mm512_set1_epi8(plus), _mm512_set1_epi8(minus), out);
}

void UnpackBool(const uint32_t* in, size_t rows, size_t channels, uint8_t* out) {
  UnpackBytes(in, rows, channels, _mm512_set1_epi8(1), _mm512_setzero_si512(), out);
}

constexpr PixelOps WithAvx512bw() {
  PixelOps ops = WithMasks<Vec16, Bytes64>();
  ops.to_int8 = ToInt8Avx512bw;
  ops.unpack_float = UnpackFloat;
  ops.unpack_int8 = UnpackInt8;
  ops.unpack_bool = UnpackBool;
  return ops;
}

}  // namespace

constexpr PixelOps kPixelOpsAvx512bw = WithAvx512bw();

}  // namespace larq_engine
