// DealRows of pixel_ops_rows.h with AVX2. Everything here is internal to the file that includes it.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_X86_DEAL_ROWS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_X86_DEAL_ROWS_H_

#include <immintrin.h>

#include "larq_engine/kernels/pixels/pixel_ops_rows.h"

namespace larq_engine {
namespace {

// Eight rows of any width take as many whole bytes as a row has channels, so the bits of each group
// of eight rows have the same positions. Lanes of 64 bits take the bytes that hold a word's bits
// and shift them down.

inline __m128i Load16(const unsigned char* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

inline __m256i TwoHalves(const unsigned char* low, const unsigned char* high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(low)), Load16(high), 1);
}

// Returns the lower words of the lanes a0 a1 | a2 a3 and b0 b1 | b2 b3: a0 a1 b0 b1 | a2 a3 b2 b3.
inline __m256i LowerWords(__m256i a, __m256i b) {
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}

// Deals rows of at most one word. All eight are in two halves of 16 bytes, the second of which
// begins with the byte that has row 4's first bit.
class OneWordDealer {
 public:
  explicit OneWordDealer(size_t channels)
      : second_half_(channels / 2),
        mask_(_mm256_set1_epi32(static_cast<int32_t>(TailMask(channels)))) {
    const int64_t bits = static_cast<int64_t>(channels);
    const int64_t skipped = static_cast<int64_t>(second_half_ * 8);
    const __m256i lowest_byte = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
    const __m256i eight_bytes = _mm256_set1_epi64x(0x0706050403020100);
    for (int64_t i = 0; i < 2; ++i) {
      // Rows 0, 1 | 4, 5, then 2, 3 | 6, 7.
      const int64_t row = 2 * i;
      const __m256i first = _mm256_setr_epi64x(
          row * bits, (row + 1) * bits, (row + 4) * bits - skipped, (row + 5) * bits - skipped);
      shifts_[i] = _mm256_and_si256(first, _mm256_set1_epi64x(7));
      const __m256i byte = _mm256_shuffle_epi8(_mm256_srli_epi64(first, 3), lowest_byte);
      bytes_[i] = _mm256_add_epi8(byte, eight_bytes);
    }
  }

  void operator()(const unsigned char* stream, uint32_t* out) const {
    const __m256i halves = TwoHalves(stream, stream + second_half_);
    const auto rows = [&](size_t i) {
      return _mm256_srlv_epi64(_mm256_shuffle_epi8(halves, bytes_[i]), shifts_[i]);
    };
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_and_si256(LowerWords(rows(0), rows(1)), mask_));
  }

 private:
  size_t second_half_;
  __m256i mask_, bytes_[2], shifts_[2];
};

// Deals rows of two words. Each row is in 16 bytes that begin with the byte that has its first bit.
class TwoWordDealer {
 public:
  explicit TwoWordDealer(size_t channels)
      : mask_(_mm256_set1_epi64x(
            static_cast<int64_t>(uint64_t{TailMask(channels)} << kWordBits | 0xffffffff))) {
    for (size_t row = 0; row < 8; ++row) at_[row] = row * channels / 8;
    for (size_t i = 0; i < 4; ++i) {
      // Rows 0 | 2, then 1 | 3, then 4 | 6, then 5 | 7.
      const size_t row = i / 2 * 4 + i % 2;
      const auto shift = [&](size_t r) { return static_cast<int64_t>(r * channels % 8); };
      shifts_[i] = _mm256_setr_epi64x(shift(row), shift(row), shift(row + 2), shift(row + 2));
    }
  }

  void operator()(const unsigned char* stream, uint32_t* out) const {
    const __m256i two_words = _mm256_setr_epi64x(0x0706050403020100, 0x0b0a090807060504,
                                                 0x0706050403020100, 0x0b0a090807060504);
    const auto rows = [&](size_t i) {
      const size_t row = i / 2 * 4 + i % 2;
      const __m256i halves = TwoHalves(stream + at_[row], stream + at_[row + 2]);
      return _mm256_srlv_epi64(_mm256_shuffle_epi8(halves, two_words), shifts_[i]);
    };
    for (size_t four = 0; four < 2; ++four) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * four),
                          _mm256_and_si256(LowerWords(rows(2 * four), rows(2 * four + 1)), mask_));
    }
  }

 private:
  size_t at_[8];
  __m256i mask_, shifts_[4];
};

template <typename Dealer>
inline size_t DealEights(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
  const Dealer deal(channels);
  size_t i = 0;
  for (; i + 8 <= rows; i += 8) deal(stream + i / 8 * channels, out + i * WordsFor(channels));
  return i;
}

inline void DealRowsAvx2(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
  size_t dealt = 0;
  if (channels < kWordBits) {
    dealt = DealEights<OneWordDealer>(stream, rows, channels, out);
  } else if (channels < 2 * kWordBits) {
    dealt = DealEights<TwoWordDealer>(stream, rows, channels, out);
  }
  DealRows(stream + dealt / 8 * channels, rows - dealt, channels, out + dealt * WordsFor(channels));
}

// The base of vectors that pack values (pixel_ops_masks.h).
struct DealsWithAvx2 {
  static void DealRows(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
    DealRowsAvx2(stream, rows, channels, out);
  }
};

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_X86_DEAL_ROWS_H_
