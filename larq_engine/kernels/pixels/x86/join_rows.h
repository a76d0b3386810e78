// JoinRows of pixel_ops_rows.h with AVX2, and the code that AVX-512 shares. Everything here is
// internal to the file that includes it.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_X86_JOIN_ROWS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_X86_JOIN_ROWS_H_

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/pixels/pixel_ops_rows.h"

namespace larq_engine {
namespace {

// Rows become lanes of 64 bits: a lane has eight rows, four, two or one, or a row has two lanes. If
// a lane takes several rows, neighbours are first joined in a register of twice their width: the
// lower one is shifted up to the upper one, then both are shifted down. Lanes of less than 32 bits
// hold eight rows, which are whole bytes, and are stored one by one; a LaneJoiner joins all others.

inline constexpr size_t kLaneBits = 64;

// The operations on a vector that joining needs.
struct Vector256 {
  using Bits = __m256i;
  static constexpr size_t kLanes = 4;
  static constexpr size_t kWords = 2 * kLanes;
  static Bits Load(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static void Store(void* to, Bits x) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
  static Bits Words(size_t word) { return _mm256_set1_epi32(static_cast<int32_t>(word)); }
  static Bits Lanes(uint64_t lane) { return _mm256_set1_epi64x(static_cast<int64_t>(lane)); }
  static Bits FirstLane(uint64_t lane) {
    return _mm256_zextsi128_si256(_mm_cvtsi64_si128(static_cast<int64_t>(lane)));
  }
  static Bits And(Bits a, Bits b) { return _mm256_and_si256(a, b); }
  static Bits Or(Bits a, Bits b) { return _mm256_or_si256(a, b); }
  static Bits Plus(Bits a, Bits b) { return _mm256_add_epi64(a, b); }
  static Bits Minus(Bits a, Bits b) { return _mm256_sub_epi64(a, b); }
  static Bits Times(Bits a, Bits b) { return _mm256_mul_epu32(a, b); }
  static Bits WordsUp(Bits x, Bits counts) { return _mm256_sllv_epi32(x, counts); }
  static Bits WordsDown(Bits x, Bits counts) { return _mm256_srlv_epi32(x, counts); }
  static Bits LanesUp(Bits x, Bits counts) { return _mm256_sllv_epi64(x, counts); }
  static Bits LanesDown(Bits x, Bits counts) { return _mm256_srlv_epi64(x, counts); }
  static Bits HalfWordsTimes(Bits a, Bits b) { return _mm256_mullo_epi16(a, b); }
  // HalfWords turns words into half words; each 128 bits have those of a, then those of b. InOrder
  // puts the lanes that are made of them in order.
  static Bits HalfWords(Bits a, Bits b) { return _mm256_packus_epi32(a, b); }
  static Bits InOrder(Bits x) { return _mm256_permute4x64_epi64(x, _MM_SHUFFLE(3, 1, 2, 0)); }
  // Take returns the lanes that `from` names; LaneNames makes these names of the lanes' numbers.
  static Bits Take(Bits x, Bits from) { return _mm256_permutevar8x32_epi32(x, from); }
  static Bits LaneNames(Bits numbers) {
    const Bits twice = Plus(numbers, numbers);
    return Plus(Or(twice, _mm256_slli_epi64(twice, kWordBits)), Lanes(uint64_t{1} << kWordBits));
  }
};

// The first bit of each lane of a vector.
alignas(64) inline constexpr uint64_t kLaneBegins[8] = {0, 64, 128, 192, 256, 320, 384, 448};

// Joins lanes of 32 to 64 used bits, whose other bits are 0, or rows of two lanes, whose first lane
// is full. At most two lanes begin within a lane of the result; a third may have begun before.
template <typename Vector, size_t kRowLanes = 1>
class LaneJoiner {
  using Bits = typename Vector::Bits;

 public:
  // The first row's first bit becomes bit `start`, which is less than 8. The bits after the last
  // row's last bit may have any value.
  explicit LaneJoiner(size_t row_bits, size_t start = 0) {
    const auto number = [](uint64_t x) { return Vector::Lanes(x); };
    const Bits begins = Vector::Load(kLaneBegins);
    // The number of rows before the beginning of each lane, rounded up. For a number less than
    // 0x100000 / row_bits this way of dividing is exact.
    const Bits before =
        Vector::Plus(Vector::Minus(begins, number(start)), Vector::FirstLane(start));
    const uint64_t inverse = 0x100000 / static_cast<uint32_t>(row_bits) + 1;
    const Bits rows = Vector::LanesDown(
        Vector::Times(Vector::Plus(before, number(row_bits - 1)), number(inverse)), number(20));
    // The lane that begins there or next, by how much it is shifted up, its width, and the width of
    // the lane before it.
    Bits next = rows;
    Bits up = Vector::Minus(Vector::Times(rows, number(row_bits)), before);
    Bits width = number(row_bits), width_before = width;
    if (kRowLanes == 2) {
      const size_t second = row_bits - kLaneBits;
      // All ones if a row's second lane begins in between.
      const Bits is_second = Vector::Minus(
          number(0), Vector::LanesDown(Vector::Minus(number(second - 1), up), number(63)));
      const Bits less = Vector::And(is_second, number(kLaneBits - second));
      next = Vector::Plus(Vector::Plus(rows, rows), is_second);
      up = Vector::Minus(up, Vector::And(is_second, number(second)));
      width = Vector::Minus(number(kLaneBits), less);
      width_before = Vector::Plus(number(second), less);
    }
    up = Vector::Plus(up, Vector::FirstLane(start));
    from_[0] = Vector::LaneNames(Vector::Minus(next, number(1)));
    from_[1] = Vector::LaneNames(next);
    from_[2] = Vector::LaneNames(Vector::Plus(next, number(1)));
    // The first lane has no lane before it.
    shifts_[0] = Vector::Or(Vector::Minus(width_before, up), Vector::FirstLane(kLaneBits));
    shifts_[1] = up;
    shifts_[2] = Vector::Plus(up, width);
  }

  Bits operator()(Bits lanes) const {
    const Bits begun = Vector::LanesDown(Vector::Take(lanes, from_[0]), shifts_[0]);
    const Bits first = Vector::LanesUp(Vector::Take(lanes, from_[1]), shifts_[1]);
    const Bits second = Vector::LanesUp(Vector::Take(lanes, from_[2]), shifts_[2]);
    return Vector::Or(Vector::Or(begun, first), second);
  }

 private:
  Bits from_[3], shifts_[3];
};

// Joins groups of kGroup rows, a multiple of eight and so whole bytes, by join(in, stream). The
// last group may begin in the one before.
template <size_t kGroup, typename Join>
inline void JoinGroups(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream,
                       const Join& join) {
  const size_t words = WordsFor(channels);
  size_t joined = 0;
  while (joined + 8 <= rows && kGroup <= rows) {
    if (joined + kGroup > rows) joined = (rows - kGroup) / 8 * 8;
    join(in + joined * words, stream + joined / 8 * channels);
    joined += kGroup;
  }
  if (joined < rows) {
    JoinRows(in + joined * words, rows - joined, channels, stream + joined / 8 * channels);
  }
}

// Joins rows of up to 8 bits.
inline void JoinEights(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream) {
  using Vector = Vector256;
  const __m256i mask = Vector::Words(TailMask(channels));
  const __m256i with_next = Vector::Words(1 << channels << 16 | 1);
  const __m256i up16 = Vector::Words(0x10000 | 1 << (16 - 2 * channels));
  const __m256i down16 = Vector::Words(16 - 2 * channels);
  const __m256i up32 = Vector::Lanes(32 - 4 * channels), down32 = up32;
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const auto twos = [&](const uint32_t* from) {
    const __m256i rows16 = Vector::HalfWords(Vector::And(Vector::Load(from), mask),
                                             Vector::And(Vector::Load(from + 8), mask));
    return _mm256_madd_epi16(rows16, with_next);
  };
  JoinGroups<32>(in, rows, channels, stream, [&](const uint32_t* from, unsigned char* to) {
    const __m256i rows32 = Vector::HalfWords(twos(from), twos(from + 16));
    __m256i fours = Vector::WordsDown(Vector::HalfWordsTimes(rows32, up16), down16);
    fours = _mm256_permutevar8x32_epi32(fours, order);
    const __m256i eights = Vector::LanesDown(Vector::WordsUp(fours, up32), down32);
    const __m128i low = _mm256_castsi256_si128(eights), high = _mm256_extracti128_si256(eights, 1);
    const int64_t lanes[] = {_mm_cvtsi128_si64(low), _mm_extract_epi64(low, 1),
                             _mm_cvtsi128_si64(high), _mm_extract_epi64(high, 1)};
    for (size_t i = 0; i < 4; ++i) std::memcpy(to + i * channels, lanes + i, sizeof(*lanes));
  });
}

// Joins rows of 8 to 16 bits.
template <typename Vector>
inline void JoinFours(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream) {
  using Bits = typename Vector::Bits;
  const LaneJoiner<Vector> join(4 * channels);
  const Bits mask = Vector::Words(TailMask(channels));
  const Bits up16 = Vector::Words(0x10000 | 1 << (16 - channels));
  const Bits down16 = Vector::Words(16 - channels);
  const Bits up32 = Vector::Lanes(32 - 2 * channels), down32 = up32;
  constexpr size_t kWords = Vector::kWords;
  JoinGroups<2 * kWords>(in, rows, channels, stream, [&](const uint32_t* from, unsigned char* to) {
    const Bits rows16 = Vector::HalfWords(Vector::And(Vector::Load(from), mask),
                                          Vector::And(Vector::Load(from + kWords), mask));
    const Bits twos = Vector::WordsDown(Vector::HalfWordsTimes(rows16, up16), down16);
    const Bits fours = Vector::LanesDown(Vector::WordsUp(twos, up32), down32);
    Vector::Store(to, join(Vector::InOrder(fours)));
  });
}

// Joins rows of 16 to 32 bits.
template <typename Vector>
inline void JoinTwos(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream) {
  using Bits = typename Vector::Bits;
  const LaneJoiner<Vector> join(2 * channels);
  const uint64_t count = kWordBits - channels;
  const Bits up32 = Vector::Words(count), down64 = Vector::Lanes(count);
  const Bits down32 = Vector::Lanes(count << kWordBits);
  JoinGroups<Vector::kWords>(
      in, rows, channels, stream, [&](const uint32_t* from, unsigned char* to) {
        const Bits twos = Vector::WordsDown(Vector::WordsUp(Vector::Load(from), up32), down32);
        Vector::Store(to, join(Vector::LanesDown(twos, down64)));
      });
}

// Joins eight rows in two vectors, the second of which may begin within a byte; lanes(in) returns
// four rows.
template <typename Vector, size_t kRowLanes, typename Lanes>
inline void JoinTwoVectors(const uint32_t* in, size_t rows, size_t channels, unsigned char* stream,
                           const Lanes& lanes) {
  using Bits = typename Vector::Bits;
  const size_t half = channels / 2, start = 4 * channels % 8;
  const LaneJoiner<Vector, kRowLanes> join_first(channels), join_second(channels, start);
  // These take the bits of the first vector from the byte in which the second begins.
  const Bits begun_lane = Vector::LaneNames(Vector::Lanes(half / sizeof(uint64_t)));
  const Bits begun_down = Vector::Lanes(half % sizeof(uint64_t) * 8);
  const Bits begun_mask = Vector::FirstLane((1 << start) - 1);
  const size_t half_words = 4 * WordsFor(channels);
  JoinGroups<8>(in, rows, channels, stream, [&](const uint32_t* from, unsigned char* to) {
    const Bits first = join_first(lanes(from));
    const Bits second = join_second(lanes(from + half_words));
    const Bits begun = Vector::LanesDown(Vector::Take(first, begun_lane), begun_down);
    Vector::Store(to, first);
    Vector::Store(to + half, Vector::Or(second, Vector::And(begun, begun_mask)));
  });
}

// Joins rows of less than two words.
[[gnu::noinline, maybe_unused]] void JoinRowsAvx2(const uint32_t* in, size_t rows, size_t channels,
                                                  unsigned char* stream) {
  if (channels <= 8) return JoinEights(in, rows, channels, stream);
  if (channels <= 16) return JoinFours<Vector256>(in, rows, channels, stream);
  if (channels < kWordBits) return JoinTwos<Vector256>(in, rows, channels, stream);
  const __m256i mask = Vector256::Lanes(~uint64_t{0} >> (kLaneBits - channels));
  JoinTwoVectors<Vector256, 1>(in, rows, channels, stream, [&](const uint32_t* from) {
    return Vector256::And(Vector256::Load(from), mask);
  });
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_X86_JOIN_ROWS_H_
