#include "larq_engine/kernels/bconv2d.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/kernels/pack_rhs.h"

namespace larq_engine {
namespace {

// The only caller of a micro-kernel; its assertions are the caller's half of the contract.
void RunBgemm(const BgemmRow& row, const BgemmArgs& args) {
  assert(args.m >= 1 && args.m <= static_cast<size_t>(row.mr) && args.n >= 1);
  assert(args.segment_words % row.kr_words() == 0);
  assert(reinterpret_cast<uintptr_t>(args.rhs) % kBufferAlignment == 0);
  row.fn(args);
}

// Channels that are computed together where pixels are too few for all threads: parts of the right
// side, and whole words of packed outputs.
constexpr size_t kBlockChannels = kRhsPartColumns;
static_assert(kBlockChannels % kWordBits == 0);

// Accumulators that wait for the output transform: half of the smallest L1 (a quarter costs layers
// of 64 and 128 channels 3 %), or one tile if that is more.
constexpr size_t kStripBytes = 16 * 1024;

// Where each word of taps goes, of which only `channels` bits count, when these follow each other.
class TapPacker {
 public:
  explicit TapPacker(size_t channels)
      : tap_words_(WordsFor(channels)), last_bits_(channels - (tap_words_ - 1) * kWordBits) {}

  // By how much the next word is shifted; Advance() goes on to the one after it, and says whether
  // the bits so far fill a word.
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
  size_t word_ = 0;    // of the tap
  size_t filled_ = 0;  // bits of a word that is not full yet
};

// The filters with the bits of their taps put together.
std::vector<uint32_t> PackTapsOfFilters(const Bconv2dSpec& spec, const uint32_t* filter,
                                        size_t filter_words, size_t packed_words) {
  std::vector<uint32_t> packed;
  packed.reserve(static_cast<size_t>(spec.out_channels) * packed_words);
  for (int64_t n = 0; n < spec.out_channels; ++n) {
    TapPacker packer(static_cast<size_t>(spec.group_in_channels()));
    uint64_t bits = 0;
    for (size_t k = 0; k < filter_words; ++k) {
      bits |= uint64_t{*filter++} << packer.shift();
      if (!packer.Advance()) continue;
      packed.push_back(static_cast<uint32_t>(bits));
      bits >>= kWordBits;
    }
    if (packer.shift() > 0) packed.push_back(static_cast<uint32_t>(bits));
  }
  return packed;
}

}  // namespace

bool RollsLines(const Bconv2dSpec& spec) {
  return spec.groups == 1 && spec.dilation_width == 1 && spec.filter_width > 1 &&
         spec.filter_width <= static_cast<int64_t>(kWordBits) / spec.in_channels;
}

BgemmShape ProductShape(const Bconv2dSpec& spec) {
  const size_t tap_words = WordsFor(static_cast<size_t>(spec.group_in_channels()));
  // Of a line that is rolled on, the taps that are new.
  const int64_t words_a_line = RollsLines(spec)
                                   ? 1 + std::min(spec.stride_width, spec.filter_width)
                                   : spec.filter_width * static_cast<int64_t>(tap_words);
  return {.n = spec.group_out_channels(),
          .k_bits = spec.depth(),
          .tap_bits = static_cast<int64_t>(tap_words * kWordBits),
          .taps = spec.taps(),
          .packing_words = spec.filter_height * words_a_line};
}

// One worker's memory, some of which only a tile that is gathered needs.
struct Bconv2d::Scratch {
  ptrdiff_t* taps;     // [taps][mr], of a tile at a border
  ptrdiff_t* runs;     // [mr]
  uint64_t* bits;      // [mr]: the word that is being filled, and what does not fit it
  uint32_t* gathered;  // [mr][k_words]
  int32_t* acc;        // [strip][channels computed]
  int32_t* depth;      // [strip]
  size_t bytes;
};

Bconv2d::Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
                 const BgemmRow& row, const PixelOps& ops)
    : spec_(spec),
      transform_(std::move(transform)),
      row_(row),
      ops_(ops),
      tap_words_(WordsFor(static_cast<size_t>(spec.group_in_channels()))) {
  const size_t taps = static_cast<size_t>(spec.taps());
  size_t filter_words = taps * tap_words_;
  packs_taps_ = PacksTaps(row, ProductShape(spec));
  std::vector<uint32_t> packed_filter;
  if (spec.IsPaddedWith(PadValue::kZero)) SumFilterBits(filter);
  if (packs_taps_) {
    const size_t packed_words = WordsFor(static_cast<size_t>(spec.depth()));
    packed_filter = PackTapsOfFilters(spec, filter, filter_words, packed_words);
    filter = packed_filter.data();
    filter_words = packed_words;
  }
  in_place_ = !packs_taps_ && tap_words_ % row.kr_words() == 0;
  k_words_ = RoundUp(filter_words, row.kr_words());
  const size_t mr = static_cast<size_t>(row.mr);
  const size_t pixel_bytes = static_cast<size_t>(spec.out_channels) * sizeof(int32_t);
  strip_ = std::max<size_t>(1, kStripBytes / pixel_bytes / mr) * mr;
  const bool lines_are_runs = spec.groups == 1 && spec.dilation_width == 1;
  const size_t taps_in_run = lines_are_runs ? static_cast<size_t>(spec.filter_width) : 1;
  inner_segments_ = taps / taps_in_run;
  inner_segment_words_ = taps_in_run * tap_words_;

  const size_t groups = static_cast<size_t>(spec.groups);
  const size_t group_out = static_cast<size_t>(spec.group_out_channels());
  // Rounded up so that every group's packed filters are aligned.
  group_rhs_words_ =
      RoundUp(PackedRhsWords(row, group_out, filter_words), kBufferAlignment / sizeof(uint32_t));
  rhs_ = AlignedBuffer<uint32_t>(MemoryProduct(groups, group_rhs_words_));
  for (size_t g = 0; g < groups; ++g) {
    PackRhs(row, filter + g * group_out * filter_words, group_out, filter_words,
            rhs_.data() + g * group_rhs_words_);
  }

  padding_run_.assign(inner_segment_words_, 0);
  if (spec.IsPaddedWith(PadValue::kMinusOne)) {
    std::fill(padding_run_.begin(), padding_run_.end(), ~uint32_t{0});
    const uint32_t last_word = TailMask(static_cast<size_t>(spec.group_in_channels()));
    for (size_t end = tap_words_; end <= padding_run_.size(); end += tap_words_) {
      padding_run_[end - 1] = last_word;
    }
  }
}

void Bconv2d::SumFilterBits(const uint32_t* filter) {
  const size_t height = static_cast<size_t>(spec_.filter_height);
  const size_t width = static_cast<size_t>(spec_.filter_width);
  const size_t channels = static_cast<size_t>(spec_.out_channels);
  filter_ones_.assign(MemoryProduct((height + 1) * (width + 1), channels), 0);
  const auto corner = [&](size_t y, size_t x) {
    return filter_ones_.data() + (y * (width + 1) + x) * channels;
  };
  for (size_t n = 0; n < channels; ++n) {
    for (size_t y = 0; y < height; ++y) {
      for (size_t x = 0; x < width; ++x) {
        const uint32_t* tap = filter + ((n * height + y) * width + x) * tap_words_;
        int32_t ones = 0;
        for (size_t w = 0; w < tap_words_; ++w) ones += std::popcount(tap[w]);
        corner(y + 1, x + 1)[n] =
            ones + corner(y, x + 1)[n] + corner(y + 1, x)[n] - corner(y, x)[n];
      }
    }
  }
}

void Bconv2d::Resize(int64_t in_height, int64_t in_width) {
  rows_ = spec_.Rows(in_height);
  cols_ = spec_.Cols(in_width);
  const auto inner = [](const WindowAxis& axis) {
    const int64_t reach = (axis.taps - 1) * axis.dilation + 1;
    const int64_t last_start = axis.in - reach + axis.pad_before;  // of a window inside
    return Inner{.first = (axis.pad_before + axis.stride - 1) / axis.stride,
                 .last = last_start < 0 ? 0 : last_start / axis.stride + 1};
  };
  inner_rows_ = inner(rows_);
  inner_cols_ = inner(cols_);
  // Only tiles with all taps in the image use them, so that no product overflows that is used.
  const auto words = [&](int64_t y, int64_t x) {
    const uint64_t pixels =
        static_cast<uint64_t>(y) * static_cast<uint64_t>(in_width) + static_cast<uint64_t>(x);
    return static_cast<ptrdiff_t>(pixels * static_cast<uint64_t>(spec_.groups) * tap_words_);
  };
  inner_taps_.clear();
  inner_runs_.clear();
  const int64_t taps_in_run = spec_.taps() / static_cast<int64_t>(inner_segments_);
  for (int64_t ty = 0; ty < rows_.taps; ++ty) {
    for (int64_t tx = 0; tx < cols_.taps; ++tx) {
      for (int64_t i = 0; i < row_.mr; ++i) {
        inner_taps_.push_back(words(ty * rows_.dilation, tx * cols_.dilation + i * cols_.stride));
        if (tx % taps_in_run == 0) inner_runs_.push_back(inner_taps_.back());
      }
    }
  }
}

int64_t Bconv2d::channel_blocks() const {
  if (spec_.groups > 1) return 1;
  return (spec_.out_channels + static_cast<int64_t>(kBlockChannels) - 1) /
         static_cast<int64_t>(kBlockChannels);
}

Bconv2d::Scratch Bconv2d::SplitScratch(std::byte* memory) const {
  size_t used = 0;
  const auto take = [&](size_t rows, size_t row_bytes) {
    std::byte* part = memory == nullptr ? nullptr : memory + used;
    used = MemorySum(used, RoundUp(MemoryProduct(rows, row_bytes), kBufferAlignment));
    return part;
  };
  const size_t mr = static_cast<size_t>(row_.mr);
  const size_t taps = static_cast<size_t>(spec_.taps());
  Scratch scratch;
  scratch.taps = reinterpret_cast<ptrdiff_t*>(take(mr, taps * sizeof(ptrdiff_t)));
  scratch.runs = reinterpret_cast<ptrdiff_t*>(take(in_place_ ? 0 : mr, sizeof(ptrdiff_t)));
  scratch.bits = reinterpret_cast<uint64_t*>(take(packs_taps_ ? mr : 0, sizeof(uint64_t)));
  scratch.gathered =
      reinterpret_cast<uint32_t*>(take(in_place_ ? 0 : mr, k_words_ * sizeof(uint32_t)));
  scratch.acc = reinterpret_cast<int32_t*>(
      take(strip_, static_cast<size_t>(spec_.out_channels) * sizeof(int32_t)));
  scratch.depth = reinterpret_cast<int32_t*>(take(strip_, sizeof(int32_t)));
  scratch.bytes = used;
  return scratch;
}

size_t Bconv2d::scratch_bytes() const { return SplitScratch(nullptr).bytes; }

Bconv2d::Position Bconv2d::Locate(int64_t pixel) const {
  return {.image = pixel / (cols_.out * rows_.out),
          .y = pixel / cols_.out % rows_.out,
          .x = pixel % cols_.out};
}

void Bconv2d::Advance(Position& position, int64_t pixels) const {
  position.x += pixels;
  while (position.x >= cols_.out) {
    position.x -= cols_.out;
    if (++position.y == rows_.out) {
      position.y = 0;
      ++position.image;
    }
  }
}

// Where the first tap of an output pixel is, in words from the input; it may lie outside. Unsigned:
// far outside, where large dilations reach, it does not fit and is not used.
ptrdiff_t Bconv2d::FirstTap(const Position& position) const {
  const auto line = static_cast<uint64_t>(position.image * rows_.in + position.y * rows_.stride -
                                          rows_.pad_before);
  const uint64_t pixel = line * static_cast<uint64_t>(cols_.in) +
                         static_cast<uint64_t>(position.x * cols_.stride - cols_.pad_before);
  return static_cast<ptrdiff_t>(pixel * static_cast<uint64_t>(spec_.groups) * tap_words_);
}

bool Bconv2d::IsInnerRow(const Position& position) const {
  return position.y >= inner_rows_.first && position.y < inner_rows_.last;
}

// Whether these pixels are in one row, and have no taps left or right of the image.
bool Bconv2d::AreInnerCols(const Position& position, size_t pixels) const {
  return position.x >= inner_cols_.first &&
         position.x + static_cast<int64_t>(pixels) <= inner_cols_.last;
}

// Where the taps of a tile are. With 64 channels a tile of 6 pixels has 54 of them and takes the
// fastest row some 350 cycles, so most tiles must find theirs at no cost: away from the borders
// they lie as in the tile before.
void Bconv2d::FindTaps(const uint32_t* group_input, const Position& start, const Scratch& scratch,
                       BgemmArgs& tile) const {
  // Unsigned and in whole numbers, because it may be outside.
  tile.lhs_base = LhsRun(group_input, FirstTap(start));
  if (AreInnerCols(start, tile.m)) {
    tile.lhs = IsInnerRow(start) ? inner_runs_.data() : PadLines(start, scratch.taps, tile);
    tile.segments = inner_segments_;
    tile.segment_words = inner_segment_words_;
  } else {
    tile.lhs = PadTaps(start, scratch.taps, tile);
    tile.segments = static_cast<size_t>(spec_.taps());
    tile.segment_words = tap_words_;
  }
  if (in_place_) return;
  if (packs_taps_) {
    GatherBits(scratch, tile);
  } else {
    Gather(scratch, tile);
  }
  for (size_t i = 0; i < tile.m; ++i) scratch.runs[i] = static_cast<ptrdiff_t>(i * k_words_);
  tile.lhs_base = scratch.gathered;
  tile.lhs = scratch.runs;
  tile.segments = 1;
  tile.segment_words = k_words_;
}

// The runs of a tile of which whole filter lines lie above or below the image.
const ptrdiff_t* Bconv2d::PadLines(const Position& start, ptrdiff_t* runs,
                                   const BgemmArgs& tile) const {
  const ptrdiff_t padding = LhsOffset(tile.lhs_base, padding_run_.data());
  const WindowAxis::Taps ys = rows_.InsideTaps(start.y);
  const size_t line = inner_runs_.size() / static_cast<size_t>(rows_.taps);
  for (int64_t ty = 0; ty < rows_.taps; ++ty) {
    const bool inside = ty >= ys.first && ty < ys.last;
    for (size_t i = static_cast<size_t>(ty) * line; i < static_cast<size_t>(ty + 1) * line; ++i) {
      runs[i] = inside ? inner_runs_[i] : padding;
    }
  }
  return runs;
}

// The taps of any tile. Most of its pixels are inner ones, most of them in the row of the first,
// and of the others few taps are outside.
const ptrdiff_t* Bconv2d::PadTaps(const Position& start, ptrdiff_t* taps,
                                  const BgemmArgs& tile) const {
  const size_t mr = static_cast<size_t>(row_.mr);
  const ptrdiff_t padding = LhsOffset(tile.lhs_base, padding_run_.data());
  std::copy(inner_taps_.begin(), inner_taps_.end(), taps);
  Position position = start;
  for (size_t i = 0; i < tile.m; ++i, Advance(position, 1)) {
    if (position.y != start.y || position.image != start.image) {
      const size_t from_start =  // sums may wrap, as FirstTap may
          static_cast<size_t>(FirstTap(position)) - static_cast<size_t>(FirstTap(start));
      for (size_t tap = 0; tap < inner_taps_.size(); tap += mr) {
        taps[tap + i] = static_cast<ptrdiff_t>(static_cast<size_t>(inner_taps_[tap]) + from_start);
      }
    }
    if (!IsInnerRow(position) || !AreInnerCols(position, 1)) {
      PadTapsOfPixel(position, padding, taps + i);
    }
  }
  return taps;
}

// Those taps of a pixel that are outside become `padding`. Each is mr after the one before.
void Bconv2d::PadTapsOfPixel(const Position& position, ptrdiff_t padding, ptrdiff_t* taps) const {
  const WindowAxis::Taps ys = rows_.InsideTaps(position.y);
  const WindowAxis::Taps xs = cols_.InsideTaps(position.x);
  const auto pad = [&](int64_t ty, int64_t first, int64_t last) {
    for (int64_t tx = first; tx < last; ++tx) taps[(ty * cols_.taps + tx) * row_.mr] = padding;
  };
  for (int64_t ty = 0; ty < rows_.taps; ++ty) {
    const bool inside = ty >= ys.first && ty < ys.last;
    pad(ty, 0, inside ? xs.first : cols_.taps);
    if (inside) pad(ty, xs.last, cols_.taps);
  }
}

void Bconv2d::Gather(const Scratch& scratch, BgemmArgs& tile) const {
  const size_t mr = static_cast<size_t>(row_.mr);
  for (size_t i = 0; i < tile.m; ++i) {
    uint32_t* begin = scratch.gathered + i * k_words_;
    uint32_t* end = begin;
    for (size_t run = 0; run < tile.segments; ++run) {
      end = std::copy_n(LhsRun(tile.lhs_base, tile.lhs[run * mr + i]), tile.segment_words, end);
    }
    std::fill(end, begin + k_words_, 0);
  }
}

void Bconv2d::GatherBits(const Scratch& scratch, BgemmArgs& tile) const {
  const size_t mr = static_cast<size_t>(row_.mr);
  const size_t channels = static_cast<size_t>(spec_.group_in_channels());
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
  const bool is_inner = tile.segments == inner_segments_;
  if (is_inner && RollsLines(spec_)) {
    TapPacker lines(channels * tile.segment_words);
    for (size_t run = 0; run < tile.segments; ++run) {
      AppendLine(tile.lhs_base, tile.lhs + run * mr, tile.m, lines.shift(), bits);
      if (lines.Advance()) store();
    }
  } else {
    TapPacker packer(channels);
    for (size_t run = 0; run < tile.segments; ++run) {
      const ptrdiff_t* runs = tile.lhs + run * mr;
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

// A line of taps, a word at most, of pixels next to each other: each has the line of the one before
// without its first taps, and as many new ones; or the same, which is padding.
void Bconv2d::AppendLine(const uint32_t* base, const ptrdiff_t* runs, size_t m, size_t shift,
                         uint64_t* bits) const {
  const size_t channels = static_cast<size_t>(spec_.in_channels);
  const size_t taps = static_cast<size_t>(spec_.filter_width);
  const size_t fresh = std::min(static_cast<size_t>(spec_.stride_width), taps);
  uint64_t line = 0;
  const auto append = [&](const uint32_t* run, size_t first_tap) {
    for (size_t t = first_tap; t < taps; ++t) line |= uint64_t{run[t]} << (t * channels);
  };
  append(LhsRun(base, runs[0]), 0);
  bits[0] |= line << shift;
  const bool is_padding = m > 1 && runs[1] == runs[0];
  for (size_t i = 1; i < m; ++i) {
    if (!is_padding) {
      line >>= fresh * channels;
      append(LhsRun(base, runs[i]), taps - fresh);
    }
    bits[i] |= line << shift;
  }
}

// A tap outside the image was counted against +1 (0 bits), where it found the filter's ones. Takes
// them out of a tile's acc and says how many products are left.
void Bconv2d::CorrectZeroPadding(Position position, size_t m, const Channels& channels,
                                 int32_t* acc, int32_t* depth) const {
  const int32_t* ones = filter_ones_.data() + channels.first;
  const auto corner = [&](int64_t y, int64_t x) {
    return ones + static_cast<size_t>((y * (cols_.taps + 1) + x) * spec_.out_channels);
  };
  const int32_t* total = corner(rows_.taps, cols_.taps);
  for (size_t i = 0; i < m; ++i, acc += channels.count, Advance(position, 1)) {
    const WindowAxis::Taps ys = rows_.InsideTaps(position.y);
    const WindowAxis::Taps xs = cols_.InsideTaps(position.x);
    const int64_t inside = (ys.last - ys.first) * (xs.last - xs.first);
    depth[i] = static_cast<int32_t>(inside * spec_.group_in_channels());
    if (inside == spec_.taps()) continue;
    const int32_t* bottom_right = corner(ys.last, xs.last);
    const int32_t* top_right = corner(ys.first, xs.last);
    const int32_t* bottom_left = corner(ys.last, xs.first);
    const int32_t* top_left = corner(ys.first, xs.first);
    for (size_t n = 0; n < channels.count; ++n) {
      const int32_t ones_inside = bottom_right[n] - top_right[n] - bottom_left[n] + top_left[n];
      acc[n] -= total[n] - ones_inside;
    }
  }
}

void Bconv2d::Run(const uint32_t* input, int64_t first, int64_t last, int64_t first_block,
                  int64_t last_block, std::byte* scratch_memory, std::byte* output) const {
  if (first == last) return;
  const Scratch scratch = SplitScratch(scratch_memory);
  const size_t out_channels = static_cast<size_t>(spec_.out_channels);
  const size_t pixel_bytes = transform_.PixelBytes(out_channels);
  const size_t first_channel = static_cast<size_t>(first_block) * kBlockChannels;
  const size_t last_channel = last_block == channel_blocks()
                                  ? out_channels
                                  : static_cast<size_t>(last_block) * kBlockChannels;
  const Channels channels{.first = first_channel, .count = last_channel - first_channel};
  std::fill_n(scratch.depth, strip_, static_cast<int32_t>(spec_.depth()));
  // Blocks of nr columns follow each other in the packed right side. A part of the channels is only
  // ever asked for where there is one group.
  const uint32_t* rhs = rhs_.data() + channels.first * k_words_;
  const size_t groups = static_cast<size_t>(spec_.groups);
  BgemmArgs tile{.m = 0,
                 .n = channels.count / groups,
                 .segments = 0,
                 .segment_words = 0,
                 .lhs_base = nullptr,
                 .lhs = nullptr,
                 .rhs = rhs,
                 .acc = nullptr,
                 .acc_stride = channels.count};
  // Tiles of about the same size: 49 pixels are 7 of 7, not 6 of 8 and one of 1.
  const int64_t pixels = last - first;
  const int64_t tiles = (pixels + row_.mr - 1) / row_.mr;
  const int64_t small_m = pixels / tiles;
  const int64_t larger_tiles = pixels % tiles;
  const int64_t strip_tiles = static_cast<int64_t>(strip_) / row_.mr;
  Position position = Locate(first);
  int64_t done = 0;
  for (int64_t next = 0; next < tiles;) {
    const int64_t strip_begin = done;
    const int64_t strip_end = std::min(next + strip_tiles, tiles);
    int32_t* acc = scratch.acc;
    for (; next < strip_end; ++next) {
      const int64_t m = small_m + (next < larger_tiles ? 1 : 0);
      tile.m = static_cast<size_t>(m);
      for (size_t group = 0; group < groups; ++group) {
        FindTaps(input + group * tap_words_, position, scratch, tile);
        tile.rhs = rhs + group * group_rhs_words_;
        tile.acc = acc + group * tile.n;
        RunBgemm(row_, tile);
      }
      if (spec_.IsPaddedWith(PadValue::kZero)) {
        CorrectZeroPadding(position, tile.m, channels, acc, scratch.depth + (done - strip_begin));
      }
      acc += tile.m * channels.count;
      done += m;
      Advance(position, m);
    }
    Transform(ops_, transform_,
              {.rows = static_cast<size_t>(done - strip_begin),
               .first_channel = channels.first,
               .channels = channels.count,
               .acc = scratch.acc,
               .acc_stride = channels.count,
               .depth = scratch.depth,
               .out = output + static_cast<size_t>(strip_begin) * pixel_bytes +
                      transform_.PixelBytes(channels.first),
               .out_stride = pixel_bytes});
  }
}

}  // namespace larq_engine
