// Packs and unpacks rows of bits that do not fill their words, for every ISA. Everything here is
// internal to the file that includes it, as in pixel_ops_loops.h.
//
// To pack narrow rows, all of their values are packed as if they were one long row, a stream of
// bits, which is then dealt to the rows. To unpack them, their bits are joined to a stream. So no
// ISA needs code for each width, and the cost of a value hardly depends on it.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_ROWS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Rows of at least this width are packed one by one, because their last word costs little compared
// with the others.
inline constexpr size_t kNarrow = 4 * kWordBits;
inline constexpr size_t kStreamWords = 128;  // at least 32 narrow rows
inline constexpr size_t kStreamSlack = 4;    // words after the stream that dealing may read

template <size_t kWholeWords>
inline void DealWords(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
  const uint32_t mask = TailMask(channels);
  for (size_t at = 0, end = rows * channels; at < end; at += channels) {
    const auto word = [&](size_t w) {
      uint64_t bits;  // a word may begin with any bit of a byte
      std::memcpy(&bits, stream + at / 8 + w * sizeof(uint32_t), sizeof(bits));
      return bits >> at % 8;
    };
    for (size_t w = 0; w < kWholeWords; ++w) *out++ = static_cast<uint32_t>(word(w));
    *out++ = static_cast<uint32_t>(word(kWholeWords)) & mask;
  }
}

// Gives each narrow row its bits of the stream.
inline void DealRows(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
  switch (channels / kWordBits) {
    case 0:
      return DealWords<0>(stream, rows, channels, out);
    case 1:
      return DealWords<1>(stream, rows, channels, out);
    case 2:
      return DealWords<2>(stream, rows, channels, out);
    default:
      return DealWords<3>(stream, rows, channels, out);
  }
}

// Packs rows by way of a stream: pack(first, count, to) packs values one after the other, and deal
// is DealRows or an equivalent.
template <typename Pack, typename Deal>
inline void PackStream(size_t rows, size_t channels, const Pack& pack, const Deal& deal,
                       uint32_t* out) {
  uint32_t stream[kStreamWords + kStreamSlack];
  // Multiples of 32 rows fill words, so only the last part may have values left over.
  const size_t part = kStreamWords / channels * kWordBits;
  for (size_t first = 0; first < rows; first += part) {
    const size_t count = rows - first < part ? rows - first : part;
    pack(first * channels, count * channels, stream);
    std::memset(stream + WordsFor(count * channels), 0, kStreamSlack * sizeof(*stream));
    deal(reinterpret_cast<const unsigned char*>(stream), count, channels,
         out + first * WordsFor(channels));
  }
}

// Packs rows that lie one after the other.
template <typename Pack, typename Deal>
inline void PackRows(size_t rows, size_t channels, const Pack& pack, const Deal& deal,
                     uint32_t* out) {
  if (channels % kWordBits == 0) return pack(0, rows * channels, out);
  if (channels < kNarrow) return PackStream(rows, channels, pack, deal, out);
  for (size_t i = 0; i < rows; ++i, out += WordsFor(channels)) {
    pack(i * channels, channels, out);
  }
}

// The limits and signs of consecutive values: those of the next 32 values begin at the channel of
// the first value.
struct PeriodicLimits {
  float limits[kNarrow + kWordBits];
  uint32_t signs[kNarrow + kWordBits];
  PeriodicLimits(const float* channel_limits, const uint32_t* channel_signs, size_t channels) {
    std::memcpy(limits, channel_limits, channels * sizeof(*limits));
    std::memcpy(signs, channel_signs, channels * sizeof(*signs));
    for (size_t i = 0; i < kWordBits; ++i) {
      limits[channels + i] = limits[i];
      signs[channels + i] = signs[i];
    }
  }
};

// Packs rows whose channels have limits and signs. pack(in, limits, signs, count, to) packs `count`
// values with as many limits. Narrow rows, which are joined, must lie one after the other.
template <typename Pack, typename Deal>
inline void PackLimitRows(const float* in, const float* limits, const uint32_t* signs, size_t rows,
                          size_t channels, const Pack& pack, const Deal& deal, uint32_t* out,
                          size_t out_stride) {
  if (channels == 0) return;  // `out` may be null, and adding to it is undefined
  if (channels % kWordBits == 0 || channels >= kNarrow) {
    for (size_t i = 0; i < rows; ++i, in += channels, out += out_stride) {
      pack(in, limits, signs, channels, out);
    }
    return;
  }
  const PeriodicLimits periodic(limits, signs, channels);
  const size_t step = kWordBits % channels;
  const auto pack_stream = [&](size_t first, size_t count, uint32_t* to) {
    const float* from = in + first;
    size_t phase = 0;
    for (; count > kWordBits; count -= kWordBits, from += kWordBits, ++to) {
      pack(from, periodic.limits + phase, periodic.signs + phase, kWordBits, to);
      phase += step;
      if (phase >= channels) phase -= channels;
    }
    pack(from, periodic.limits + phase, periodic.signs + phase, count, to);
  };
  PackStream(rows, channels, pack_stream, deal, out);
}

inline constexpr size_t kJoinedWords = 256;  // at least 64 narrow rows
inline constexpr size_t kJoinedSlack = 16;   // words after the stream that joining may write

// Joins rows. The bits of a word past the channels may have any value.
[[gnu::noinline]] inline void JoinRows(const uint32_t* in, size_t rows, size_t channels,
                                       unsigned char* stream) {
  const uint32_t mask = TailMask(channels);
  const size_t whole_words = channels / kWordBits;
  uint64_t begun = 0;  // bits of a byte that the row before left unfinished
  for (size_t at = 0, end = rows * channels; at < end; at += channels) {
    unsigned char* to = stream + at / 8;
    const size_t known = at % 8;
    size_t w = 0;
    for (; w + 2 <= whole_words; w += 2, to += sizeof(uint64_t)) {
      uint64_t bits;
      std::memcpy(&bits, in + w, sizeof(bits));
      begun |= bits << known;
      std::memcpy(to, &begun, sizeof(begun));
      begun = bits >> 1 >> (63 - known);
    }
    if (w < whole_words) {
      begun |= uint64_t{in[w++]} << known;
      std::memcpy(to, &begun, sizeof(begun));
      begun >>= kWordBits;
      to += sizeof(uint32_t);
    }
    begun |= uint64_t{in[w++] & mask} << known;
    std::memcpy(to, &begun, sizeof(begun));
    begun >>= (known + channels % kWordBits) / 8 * 8;
    in += w;
  }
}

// Unpacks rows that lie one after the other, joined or one by one. unpack(words, first, count,
// spare) unpacks `count` bits to the place of value `first`. It may also overwrite the `spare`
// values after them, which are written later. join is JoinRows or an equivalent.
template <typename Join, typename Unpack>
inline void UnpackRows(const uint32_t* in, size_t rows, size_t channels, bool joined,
                       const Join& join, const Unpack& unpack) {
  const size_t end = rows * channels;
  if (channels % kWordBits == 0) return unpack(in, 0, end, 0);
  if (rows == 1 || !joined) {
    for (size_t at = 0; at < end; at += channels, in += WordsFor(channels)) {
      unpack(in, at, channels, end - at - channels);
    }
    return;
  }
  uint32_t stream[kJoinedWords + kJoinedSlack];
  // Multiples of 64 rows fill cache lines of the output.
  const size_t part = kJoinedWords * kWordBits / channels / 64 * 64;
  for (size_t first = 0; first < rows; first += part) {
    const size_t count = rows - first < part ? rows - first : part;
    join(in + first * WordsFor(channels), count, channels,
         reinterpret_cast<unsigned char*>(stream));
    unpack(stream, first * channels, count * channels, 0);
  }
}

// Returns how many of the first rows have at least `over` values after them: a row that is written
// in order may run into later values, which are written afterwards.
inline size_t RowsBefore(size_t over, size_t rows, size_t channels) {
  if (over == 0) return rows;
  const size_t last = (over + channels - 1) / channels;
  return rows < last ? 0 : rows - last;
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_ROWS_H_
