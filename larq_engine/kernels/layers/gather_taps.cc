#include "larq_engine/kernels/layers/gather_taps.h"

#include <algorithm>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Tells whether neighbouring pixels share packed bits of a filter line: the line's bits must fit a
// word.
bool RollsLines(const Bconv2dSpec& spec) {
  return spec.lines_are_runs() && spec.window.width.taps > 1 &&
         spec.window.width.taps <= static_cast<int64_t>(kWordBits) / spec.in_channels;
}

// Returns how many taps of a line are new for the next pixel.
int64_t FreshTaps(const Bconv2dSpec& spec) {
  return std::min(spec.window.width.stride, spec.window.width.taps);
}

// Computes the place of each word of taps if the words follow each other without gaps. Only
// `channels` bits of a tap's words count.
class TapPacker {
 public:
  explicit TapPacker(size_t channels)
      : tap_words_(WordsFor(channels)), last_bits_(channels - (tap_words_ - 1) * kWordBits) {}

  // Returns by how much the next word is shifted. Advance() goes on to the word after it, and tells
  // whether the bits so far fill a word of the output.
  size_t shift() const { return filled_; }
  bool Advance() {
    const bool is_last = ++word_ == tap_words_;
    filled_ += is_last ? last_bits_ : kWordBits;
    if (is_last) word_ = 0;
    if (filled_ < kWordBits) return false;
    filled_ -= kWordBits;
    return true;
  }

 private:
  size_t tap_words_;
  size_t last_bits_;
  size_t word_ = 0;    // index within the tap
  size_t filled_ = 0;  // bits in the output word that is not full yet
};

}  // namespace

BgemmShape ProductShape(const Bconv2dSpec& spec) {
  const int64_t tap_words = static_cast<int64_t>(spec.tap_words());
  const int64_t words_a_line =
      RollsLines(spec) ? 1 + FreshTaps(spec) : spec.window.width.taps * tap_words;
  return {.n = spec.group_out_channels(),
          .k_bits = spec.depth(),
          .tap_bits = tap_words * static_cast<int64_t>(kWordBits),
          .taps = spec.window.taps(),
          .runs = spec.lines_are_runs() ? spec.window.height.taps : spec.window.taps(),
          .lines = spec.window.height.taps,
          .packing_words = spec.window.height.taps * words_a_line};
}

TapGatherer::TapGatherer(const Bconv2dSpec& spec, const BgemmRow& row)
    : mr_(static_cast<size_t>(row.mr)),
      channels_(static_cast<size_t>(spec.group_in_channels())),
      tap_words_(spec.tap_words()),
      taps_(static_cast<size_t>(spec.window.taps())),
      filter_width_(static_cast<size_t>(spec.window.width.taps)),
      fresh_taps_(static_cast<size_t>(FreshTaps(spec))),
      packs_bits_(PacksTaps(row, ProductShape(spec))),
      in_place_(!packs_bits_ && tap_words_ % row.kr_words() == 0),
      rolls_lines_(RollsLines(spec)),
      filter_words_(packs_bits_ ? WordsFor(static_cast<size_t>(spec.depth())) : taps_ * tap_words_),
      k_words_(RoundUp(filter_words_, row.kr_words())) {
  for (size_t i = 0; i < mr_; ++i) gathered_runs_.push_back(static_cast<ptrdiff_t>(i * k_words_));
}

std::vector<uint32_t> TapGatherer::PackFilters(const uint32_t* filters, size_t count) const {
  std::vector<uint32_t> packed;
  packed.reserve(count * filter_words_);
  for (size_t n = 0; n < count; ++n) {
    TapPacker packer(channels_);
    uint64_t bits = 0;
    for (size_t k = 0; k < taps_ * tap_words_; ++k) {
      bits |= uint64_t{*filters++} << packer.shift();
      if (!packer.Advance()) continue;
      packed.push_back(static_cast<uint32_t>(bits));
      bits >>= kWordBits;
    }
    if (packer.shift() > 0) packed.push_back(static_cast<uint32_t>(bits));
  }
  return packed;
}

TapGatherer::Scratch TapGatherer::TakeScratch(ScratchParts& parts) const {
  Scratch scratch;
  scratch.bits = parts.Take<uint64_t>(packs_bits_ ? mr_ : 0, 1);
  scratch.gathered = parts.Take<uint32_t>(in_place_ ? 0 : mr_, k_words_);
  return scratch;
}

void TapGatherer::Gather(const Scratch& scratch, BgemmArgs& tile) const {
  if (packs_bits_) {
    GatherBits(tile, scratch);
  } else {
    GatherWords(tile, scratch.gathered);
  }
  tile.lhs_base = scratch.gathered;
  tile.lhs = gathered_runs_.data();
  tile.segments = 1;
  tile.segment_words = k_words_;
}

void TapGatherer::GatherWords(const BgemmArgs& tile, uint32_t* gathered) const {
  for (size_t i = 0; i < tile.m; ++i) {
    uint32_t* begin = gathered + i * k_words_;
    uint32_t* end = begin;
    for (size_t run = 0; run < tile.segments; ++run) {
      end = std::copy_n(LhsRun(tile.lhs_base, tile.lhs[run * mr_ + i]), tile.segment_words, end);
    }
    std::fill(end, begin + k_words_, 0);
  }
}

void TapGatherer::GatherBits(const BgemmArgs& tile, const Scratch& scratch) const {
  uint64_t* bits = scratch.bits;
  uint32_t* to = scratch.gathered;
  const auto store = [&] {
    for (size_t i = 0; i < tile.m; ++i) {
      to[i * k_words_] = static_cast<uint32_t>(bits[i]);
      bits[i] >>= kWordBits;
    }
    ++to;
  };
  std::fill_n(bits, tile.m, 0);
  const bool runs_are_lines = tile.segments < taps_;
  if (runs_are_lines && rolls_lines_) {
    TapPacker lines(channels_ * tile.segment_words);
    for (size_t run = 0; run < tile.segments; ++run) {
      AppendLine(tile.lhs_base, tile.lhs + run * mr_, tile.m, lines.shift(), bits);
      if (lines.Advance()) store();
    }
  } else {
    TapPacker packer(channels_);
    for (size_t run = 0; run < tile.segments; ++run) {
      const ptrdiff_t* runs = tile.lhs + run * mr_;
      for (size_t k = 0; k < tile.segment_words; ++k) {
        const size_t shift = packer.shift();
        for (size_t i = 0; i < tile.m; ++i) {
          bits[i] |= uint64_t{LhsRun(tile.lhs_base, runs[i])[k]} << shift;
        }
        if (packer.Advance()) store();
      }
    }
  }
  while (to < scratch.gathered + k_words_) store();
}

// Appends a line of taps, at most a word, for neighbouring pixels. Each pixel's line is the line of
// the pixel before it without its first taps, followed by as many new taps; or all lines are
// padding and equal.
void TapGatherer::AppendLine(const uint32_t* base, const ptrdiff_t* runs, size_t m, size_t shift,
                             uint64_t* bits) const {
  uint64_t line = 0;
  const auto append = [&](const uint32_t* run, size_t first_tap) {
    for (size_t t = first_tap; t < filter_width_; ++t) line |= uint64_t{run[t]} << (t * channels_);
  };
  append(LhsRun(base, runs[0]), 0);
  bits[0] |= line << shift;
  const bool is_padding = m > 1 && runs[1] == runs[0];
  for (size_t i = 1; i < m; ++i) {
    if (!is_padding) {
      line >>= fresh_taps_ * channels_;
      append(LhsRun(base, runs[i]), filter_width_ - fresh_taps_);
    }
    bits[i] |= line << shift;
  }
}

}  // namespace larq_engine
