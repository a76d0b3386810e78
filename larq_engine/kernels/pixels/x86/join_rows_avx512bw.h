// JoinRows of pixel_ops_rows.h with AVX-512. Everything here is internal to the file that includes
// it.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_X86_JOIN_ROWS_AVX512BW_H_
#define LARQ_ENGINE_KERNELS_PIXELS_X86_JOIN_ROWS_AVX512BW_H_

#include "larq_engine/kernels/pixels/x86/join_rows.h"

namespace larq_engine {
namespace {

struct Vector512 {
  using Bits = __m512i;
  static constexpr size_t kLanes = 8;
  static constexpr size_t kWords = 2 * kLanes;
  static Bits Load(const void* from) { return _mm512_loadu_si512(from); }
  static void Store(void* to, Bits x) { _mm512_storeu_si512(to, x); }
  static Bits Words(size_t word) { return _mm512_set1_epi32(static_cast<int32_t>(word)); }
  static Bits Lanes(uint64_t lane) { return _mm512_set1_epi64(static_cast<int64_t>(lane)); }
  static Bits FirstLane(uint64_t lane) {
    return _mm512_zextsi128_si512(_mm_cvtsi64_si128(static_cast<int64_t>(lane)));
  }
  static Bits And(Bits a, Bits b) { return _mm512_and_si512(a, b); }
  static Bits Or(Bits a, Bits b) { return _mm512_or_si512(a, b); }
  static Bits Plus(Bits a, Bits b) { return _mm512_add_epi64(a, b); }
  static Bits Minus(Bits a, Bits b) { return _mm512_sub_epi64(a, b); }
  static Bits Times(Bits a, Bits b) { return _mm512_mul_epu32(a, b); }
  static Bits WordsUp(Bits x, Bits counts) { return _mm512_sllv_epi32(x, counts); }
  static Bits WordsDown(Bits x, Bits counts) { return _mm512_srlv_epi32(x, counts); }
  static Bits LanesUp(Bits x, Bits counts) { return _mm512_sllv_epi64(x, counts); }
  static Bits LanesDown(Bits x, Bits counts) { return _mm512_srlv_epi64(x, counts); }
  static Bits HalfWordsTimes(Bits a, Bits b) { return _mm512_mullo_epi16(a, b); }
  static Bits HalfWords(Bits a, Bits b) { return _mm512_packus_epi32(a, b); }
  static Bits InOrder(Bits x) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), x);
  }
  static Bits Take(Bits x, Bits from) { return _mm512_permutexvar_epi64(from, x); }
  static Bits LaneNames(Bits numbers) { return numbers; }
};

// Joins rows of two words.
inline void JoinOnes(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream) {
  const LaneJoiner<Vector512> join(channels);
  const __m512i mask = Vector512::Lanes(~uint64_t{0} >> (kLaneBits - channels));
  JoinGroups<8>(in, rows, channels, stream, [&](const uint32_t* from, unsigned char* to) {
    Vector512::Store(to, join(Vector512::And(Vector512::Load(from), mask)));
  });
}

// Joins rows of three or four words.
inline void JoinHalves(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream) {
  const bool three = channels <= 3 * kWordBits;
  const __mmask16 loaded = three ? 0x0fff : 0xffff;
  const __m512i words =
      three ? _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11)
            : _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i mask = _mm512_mask_blend_epi64(
      0xaa, _mm512_set1_epi64(-1), Vector512::Lanes(~uint64_t{0} >> (2 * kLaneBits - channels)));
  JoinTwoVectors<Vector512, 2>(in, rows, channels, stream, [&](const uint32_t* from) {
    const __m512i some = _mm512_maskz_loadu_epi32(loaded, from);
    return Vector512::And(_mm512_permutexvar_epi32(words, some), mask);
  });
}

// Joins rows of less than four words.
[[gnu::noinline]] void JoinRowsAvx512bw(const uint32_t* in, size_t rows, size_t channels,
                                        unsigned char* stream) {
  if (channels <= 8) return JoinEights(in, rows, channels, stream);
  if (channels <= 16) return JoinFours<Vector512>(in, rows, channels, stream);
  if (channels < kWordBits) return JoinTwos<Vector512>(in, rows, channels, stream);
  if (channels < 2 * kWordBits) return JoinOnes(in, rows, channels, stream);
  JoinHalves(in, rows, channels, stream);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_X86_JOIN_ROWS_AVX512BW_H_
