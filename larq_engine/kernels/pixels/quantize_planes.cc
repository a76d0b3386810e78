#include "larq_engine/kernels/pixels/quantize_planes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Half of the smallest L1.
constexpr size_t kPartBytes = 16 * 1024;

// Up to this number of bits a value is compared with all limits: with AVX-512, 4 bits took as long
// as guessing.
constexpr size_t kMostCompared = 4;

// Returns the number of the limit, from `first` to `last`, that the value must be compared with:
// lower limits are not greater than the value, and higher ones are.
int32_t GuessLimit(float value, float factor, float offset, float first, float last) {
  const float guess = value * factor + offset;
  const float low = guess < last ? guess : last;  // `last` for NaN, too
  return static_cast<int32_t>(low > first ? low : first);
}

// Finds factor, offset and lowest guess of one channel; returns false if the limits are not spaced
// evenly enough. Guesses never fall as values rise, so they are right everywhere if they are right
// on both sides of each limit. All values reach limits of -infinity, and only the last of these
// limits is examined.
bool FindGuess(const float* limits, size_t stride, size_t count, float& factor, float& offset,
               float& lowest) {
  size_t first = 0;
  size_t last = count - 1;
  while (first < last && std::isinf(limits[first * stride])) ++first;
  while (first < last && std::isinf(limits[last * stride])) --last;
  const size_t begin = std::max<size_t>(first, 1) - 1;
  lowest = static_cast<float>(begin);
  const double start = limits[first * stride];
  const double step = (limits[last * stride] - start) / static_cast<double>(last - first);
  factor = static_cast<float>(1 / step);
  // Half-way between two limits, the guess changes from one to the next.
  offset = static_cast<float>(static_cast<double>(first) + 0.5 - start / step);
  if (!(step > 0) || !std::isfinite(factor) || !std::isfinite(offset)) return false;
  const auto guess = [&](float value) {
    const auto most = static_cast<float>(count - 1);
    return static_cast<size_t>(GuessLimit(value, factor, offset, lowest, most));
  };
  for (size_t i = begin; i < count; ++i) {
    const float limit = limits[i * stride];
    if (guess(limit) < i || guess(std::nextafter(limit, -INFINITY)) > i) return false;
  }
  return true;
}

// Plane j has bit j of the number of missing limits. The highest plane comes first: its bit is
// shifted to the top of a byte, where it makes the byte negative.
void PackPlanes(const PixelOps& ops, size_t bits, size_t pixels, size_t channels, uint8_t* missing,
                uint32_t* plane_words, uint32_t* out) {
  const size_t words = WordsFor(channels);
  const auto shift = [&](size_t by) {
    for (size_t i = 0; i < pixels * channels; ++i) {
      missing[i] = static_cast<uint8_t>(missing[i] << by);
    }
  };
  if (bits < kByteBits) shift(kByteBits - bits);
  for (size_t plane = bits; plane-- > 0;) {
    ops.bitpack_int8(reinterpret_cast<const int8_t*>(missing), pixels, channels, 0, plane_words);
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      std::copy_n(plane_words + pixel * words, words, out + (pixel * bits + plane) * words);
    }
    if (plane > 0) shift(1);
  }
}

}  // namespace

PlaneQuantizer::PlaneQuantizer(size_t bits, size_t channels, const std::vector<float>& limits,
                               const PixelOps& ops)
    : bits_(bits),
      channels_(channels),
      words_(WordsFor(channels)),
      part_pixels_(std::max<size_t>(1, kPartBytes / sizeof(float) / std::max<size_t>(1, channels))),
      ops_(ops) {
  const size_t limit_channels = limits.size() / count();
  if (bits > kMostCompared) FindGuesses(limits, limit_channels);
  if (guesses()) return;
  signs_.assign(channels, 0);
  limits_.resize(count() * channels);
  for (size_t i = 0; i < limits_.size(); ++i) {
    limits_[i] = limits[limit_channels == 1 ? i / channels : i];
  }
}

// Sets the tables for guessing; leaves them empty if a channel's limits cannot be guessed.
void PlaneQuantizer::FindGuesses(const std::vector<float>& limits, size_t limit_channels) {
  std::vector<float> factors(limit_channels);
  std::vector<float> offsets(limit_channels);
  std::vector<float> lowest(limit_channels);
  for (size_t c = 0; c < limit_channels; ++c) {
    if (!FindGuess(limits.data() + c, limit_channels, count(), factors[c], offsets[c], lowest[c])) {
      return;
    }
  }
  limits_.resize(limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    limits_[i % limit_channels * count() + i / limit_channels] = limits[i];
  }
  channel_limits_ = limit_channels == 1 ? 0 : count();
  factors.resize(channels_, factors[0]);
  offsets.resize(channels_, offsets[0]);
  lowest.resize(channels_, lowest[0]);
  factors_ = std::move(factors);
  offsets_ = std::move(offsets);
  lowest_ = std::move(lowest);
}

PlaneQuantizer::Scratch PlaneQuantizer::TakeScratch(ScratchParts& parts) const {
  Scratch scratch;
  scratch.words = parts.Take<uint32_t>(part_pixels_, words_);
  scratch.guesses = parts.Take<int32_t>(guesses() ? 1 : 0, channels_);
  scratch.missing = parts.Take<uint8_t>(guesses() ? part_pixels_ : 0, channels_);
  return scratch;
}

size_t PlaneQuantizer::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

void PlaneQuantizer::Run(const float* in, size_t pixels, std::byte* scratch_memory,
                         uint32_t* out) const {
  ScratchParts parts(scratch_memory);
  const Scratch scratch = TakeScratch(parts);
  for (size_t first = 0; first < pixels; first += part_pixels_) {
    const size_t part = std::min(part_pixels_, pixels - first);
    const float* part_in = in + first * channels_;
    uint32_t* part_out = out + first * bits_ * words_;
    if (guesses()) {
      Guess(part_in, part, scratch);
      PackPlanes(ops_, bits_, part, channels_, scratch.missing, scratch.words, part_out);
    } else {
      CompareAll(part_in, part, scratch.words, part_out);
    }
  }
}

// `below` gets the bits that say which values are smaller than one limit. The limits rise, so bit j
// of q is the parity of the number of limits i, counted from 1, that the value reaches and that are
// multiples of 2^j. The number of these limits is odd, so the parity of those that the value does
// not reach is the opposite. This is the bit that plane j stores.
void PlaneQuantizer::CompareAll(const float* in, size_t pixels, uint32_t* below,
                                uint32_t* out) const {
  const size_t pixel_words = bits_ * words_;
  for (size_t i = 1; i <= count(); ++i) {
    ops_.bitpack_float_limits(in, limits_.data() + (i - 1) * channels_, signs_.data(), pixels,
                              channels_, below, words_);
    for (size_t plane = 0; plane < bits_ && i % (size_t{1} << plane) == 0; ++plane) {
      const bool is_first = i == size_t{1} << plane;
      for (size_t pixel = 0; pixel < pixels; ++pixel) {
        const uint32_t* from = below + pixel * words_;
        uint32_t* to = out + pixel * pixel_words + plane * words_;
        for (size_t w = 0; w < words_; ++w) to[w] = is_first ? from[w] : to[w] ^ from[w];
      }
    }
  }
}

// There are two loops, because compilers vectorise only the first. The members are copied to local
// variables, because a store of bytes may alias any member.
void PlaneQuantizer::Guess(const float* in, size_t pixels, const Scratch& scratch) const {
  const size_t channels = channels_;
  const size_t channel_limits = channel_limits_;
  const auto last = static_cast<float>(count() - 1);
  const auto count = static_cast<int32_t>(this->count());
  const float* factors = factors_.data();
  const float* offsets = offsets_.data();
  const float* lowest = lowest_.data();
  int32_t* guesses = scratch.guesses;
  uint8_t* missing = scratch.missing;
  for (size_t pixel = 0; pixel < pixels; ++pixel, in += channels, missing += channels) {
    for (size_t c = 0; c < channels; ++c) {
      guesses[c] = GuessLimit(in[c], factors[c], offsets[c], lowest[c], last);
    }
    const float* limits = limits_.data();
    for (size_t c = 0; c < channels; ++c, limits += channel_limits) {
      // This is an integer, because a branch would be mispredicted.
      const int32_t reached = !(in[c] < limits[guesses[c]]);
      missing[c] = static_cast<uint8_t>(count - guesses[c] - reached);
    }
  }
}

ByteQuantizer::ByteQuantizer(size_t channels, const PixelOps& ops)
    : channels_(channels),
      part_pixels_(std::max<size_t>(1, kPartBytes / std::max<size_t>(1, channels))),
      ops_(ops) {}

ByteQuantizer::Scratch ByteQuantizer::TakeScratch(ScratchParts& parts) const {
  Scratch scratch;
  scratch.words = parts.Take<uint32_t>(part_pixels_, WordsFor(channels_));
  scratch.missing = parts.Take<uint8_t>(part_pixels_, channels_);
  return scratch;
}

size_t ByteQuantizer::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

void ByteQuantizer::Run(const uint8_t* in, size_t pixels, std::byte* scratch_memory,
                        uint32_t* out) const {
  ScratchParts parts(scratch_memory);
  const Scratch scratch = TakeScratch(parts);
  for (size_t first = 0; first < pixels; first += part_pixels_) {
    const size_t part = std::min(part_pixels_, pixels - first);
    const uint8_t* part_in = in + first * channels_;
    std::transform(part_in, part_in + part * channels_, scratch.missing,
                   [](uint8_t byte) { return static_cast<uint8_t>(~byte); });
    PackPlanes(ops_, kByteBits, part, channels_, scratch.missing, scratch.words,
               out + first * kByteBits * WordsFor(channels_));
  }
}

}  // namespace larq_engine
