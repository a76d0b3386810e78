#include "larq_engine/kernels/bconv2d.h"

#include <algorithm>
#include <cassert>
#include <utility>

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

// Channels that are computed together where pixels are too few for all threads: whole words of
// packed outputs and whole nr of every row.
constexpr size_t kBlockChannels = 64;

constexpr bool IsSame(Padding padding) { return padding != Padding::kValid; }

}  // namespace

WindowAxis Bconv2dSpec::Rows(int64_t in_height) const {
  return MakeWindowAxis(in_height, filter_height, stride_height, dilation_height, IsSame(padding));
}

WindowAxis Bconv2dSpec::Cols(int64_t in_width) const {
  return MakeWindowAxis(in_width, filter_width, stride_width, dilation_width, IsSame(padding));
}

BgemmShape ProductShape(const Bconv2dSpec& spec, int64_t output_pixels) {
  return {.m = output_pixels, .n = spec.group_out_channels(), .k_bits = spec.depth()};
}

// One worker's memory.
struct Bconv2d::Scratch {
  const uint32_t** taps;  // [taps][mr], where each pixel's taps are
  const uint32_t** runs;  // [segments][mr], what the product reads: the taps, or all gathered
  uint32_t* gathered;     // [mr][segment_words]
  int32_t* acc;           // [mr][channels computed]
  int32_t* depth;         // [mr]
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
  const size_t filter_words = taps * tap_words_;
  in_place_ = tap_words_ % row.kr_words() == 0;
  segments_ = in_place_ ? taps : 1;
  segment_words_ = in_place_ ? tap_words_ : RoundUp(filter_words, row.kr_words());

  const size_t groups = static_cast<size_t>(spec.groups);
  const size_t group_out = static_cast<size_t>(spec.group_out_channels());
  // Rounded up so that every group's packed filters are aligned.
  group_rhs_words_ =
      RoundUp(PackedRhsWords(row, group_out, filter_words), kBufferAlignment / sizeof(uint32_t));
  rhs_ = AlignedBuffer<uint32_t>(groups * group_rhs_words_);
  for (size_t g = 0; g < groups; ++g) {
    PackRhs(row, filter + g * group_out * filter_words, group_out, filter_words,
            rhs_.data() + g * group_rhs_words_);
  }

  padding_run_.assign(tap_words_, 0);
  if (spec.padding == Padding::kSameMinusOne) {
    std::fill(padding_run_.begin(), padding_run_.end(), ~uint32_t{0});
    padding_run_.back() = TailMask(static_cast<size_t>(spec.group_in_channels()));
  }
  if (spec.padding == Padding::kSameZero) SumFilterBits(filter);
}

void Bconv2d::SumFilterBits(const uint32_t* filter) {
  const size_t height = static_cast<size_t>(spec_.filter_height);
  const size_t width = static_cast<size_t>(spec_.filter_width);
  const size_t channels = static_cast<size_t>(spec_.out_channels);
  filter_ones_.assign((height + 1) * (width + 1) * channels, 0);
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
  col_inside_.clear();
  for (int64_t tap = 0; tap < cols_.taps; ++tap) {
    const int64_t start = tap * cols_.dilation - cols_.pad_before;  // of output position 0
    const auto reach = [&](int64_t distance) {  // the first position that is at least as far
      return distance <= 0 ? 0 : (distance + cols_.stride - 1) / cols_.stride;
    };
    col_inside_.push_back({.first = reach(-start), .last = reach(cols_.in - start)});
  }
}

int64_t Bconv2d::channel_blocks() const {
  if (spec_.groups > 1) return 1;
  return (spec_.out_channels + static_cast<int64_t>(kBlockChannels) - 1) /
         static_cast<int64_t>(kBlockChannels);
}

Bconv2d::Scratch Bconv2d::SplitScratch(std::byte* memory) const {
  size_t used = 0;
  const auto take = [&](size_t bytes) {
    std::byte* part = memory == nullptr ? nullptr : memory + used;
    used += RoundUp(bytes, kBufferAlignment);
    return part;
  };
  const size_t mr = static_cast<size_t>(row_.mr);
  const size_t taps = static_cast<size_t>(spec_.taps());
  Scratch scratch;
  scratch.taps = reinterpret_cast<const uint32_t**>(take(taps * mr * sizeof(uint32_t*)));
  scratch.runs =
      in_place_ ? scratch.taps : reinterpret_cast<const uint32_t**>(take(mr * sizeof(uint32_t*)));
  scratch.gathered =
      reinterpret_cast<uint32_t*>(take(in_place_ ? 0 : mr * segment_words_ * sizeof(uint32_t)));
  scratch.acc = reinterpret_cast<int32_t*>(
      take(mr * static_cast<size_t>(spec_.out_channels) * sizeof(int32_t)));
  scratch.depth = reinterpret_cast<int32_t*>(take(mr * sizeof(int32_t)));
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

// A tile is cut where it goes on in another row of the image, so that within a piece a tap moves
// with its pixel by the same distance: pointers are an arithmetic sequence with padding at its
// ends. Per pointer this is an addition and a store, which counts: at 64 channels a tile of 8
// pixels has 72 pointers and takes the fastest row some 500 cycles.
void Bconv2d::PointTaps(const uint32_t* input, Position start, size_t m, size_t group,
                        const Scratch& scratch) const {
  const size_t mr = static_cast<size_t>(row_.mr);
  const int64_t pixel_words = spec_.groups * static_cast<int64_t>(tap_words_);
  const int64_t step = cols_.stride * pixel_words;
  const uint32_t* channels = input + group * tap_words_;
  const uint32_t* padding = padding_run_.data();
  for (size_t done = 0; done < m;) {
    const int64_t count = std::min(static_cast<int64_t>(m - done), cols_.out - start.x);
    const int64_t first_y = start.y * rows_.stride - rows_.pad_before;
    const int64_t first_x = start.x * cols_.stride - cols_.pad_before;
    const uint32_t** run = scratch.taps + done;
    for (int64_t ty = 0; ty < rows_.taps; ++ty) {
      const int64_t iy = first_y + ty * rows_.dilation;
      const bool line_inside = iy >= 0 && iy < rows_.in;
      // Far outside, where large dilations reach, the product would not fit.
      const int64_t line = line_inside ? (start.image * rows_.in + iy) * cols_.in : 0;
      for (int64_t tx = 0; tx < cols_.taps; ++tx, run += mr) {
        const Inside& inside = col_inside_[static_cast<size_t>(tx)];
        const int64_t from =
            line_inside ? std::clamp<int64_t>(inside.first - start.x, 0, count) : count;
        const int64_t to =
            line_inside ? std::clamp<int64_t>(inside.last - start.x, from, count) : count;
        for (int64_t i = 0; i < from; ++i) run[i] = padding;
        if (from < to) {
          const uint32_t* tap =
              channels + (line + first_x + tx * cols_.dilation) * pixel_words + from * step;
          for (int64_t i = from; i < to; ++i, tap += step) run[i] = tap;
        }
        for (int64_t i = to; i < count; ++i) run[i] = padding;
      }
    }
    done += static_cast<size_t>(count);
    Advance(start, count);
  }
}

void Bconv2d::GatherTaps(size_t m, const Scratch& scratch) const {
  const size_t mr = static_cast<size_t>(row_.mr);
  for (size_t i = 0; i < m; ++i) {
    uint32_t* begin = scratch.gathered + i * segment_words_;
    uint32_t* end = begin;
    for (size_t tap = 0; tap < static_cast<size_t>(spec_.taps()); ++tap) {
      end = std::copy_n(scratch.taps[tap * mr + i], tap_words_, end);
    }
    std::fill(end, begin + segment_words_, 0);
    scratch.runs[i] = begin;
  }
}

// A tap outside the image was counted against +1 (0 bits), where it found the filter's ones. Takes
// them out of acc and returns how many products are left.
int32_t Bconv2d::CorrectZeroPadding(const Position& position, const Channels& channels,
                                    int32_t* acc) const {
  const WindowAxis::Taps ys = rows_.InsideTaps(position.y);
  const WindowAxis::Taps xs = cols_.InsideTaps(position.x);
  const int64_t inside = (ys.last - ys.first) * (xs.last - xs.first);
  if (inside != spec_.taps()) {
    const int32_t* ones = filter_ones_.data() + channels.first;
    const auto corner = [&](int64_t y, int64_t x) {
      return ones + static_cast<size_t>((y * (cols_.taps + 1) + x) * spec_.out_channels);
    };
    const int32_t* total = corner(rows_.taps, cols_.taps);
    const int32_t* bottom_right = corner(ys.last, xs.last);
    const int32_t* top_right = corner(ys.first, xs.last);
    const int32_t* bottom_left = corner(ys.last, xs.first);
    const int32_t* top_left = corner(ys.first, xs.first);
    for (size_t n = 0; n < channels.count; ++n) {
      const int32_t ones_inside = bottom_right[n] - top_right[n] - bottom_left[n] + top_left[n];
      acc[n] -= total[n] - ones_inside;
    }
  }
  return static_cast<int32_t>(inside * spec_.group_in_channels());
}

void Bconv2d::RunTile(const uint32_t* input, Position start, size_t m, const Channels& channels,
                      const Scratch& scratch, std::byte* output) const {
  const size_t groups = static_cast<size_t>(spec_.groups);
  // Blocks of nr columns follow each other in the packed right side. A part of the channels is only
  // ever asked for where there is one group.
  const uint32_t* rhs = rhs_.data() + channels.first * segments_ * segment_words_;
  for (size_t group = 0; group < groups; ++group) {
    PointTaps(input, start, m, group, scratch);
    if (!in_place_) GatherTaps(m, scratch);
    RunBgemm(row_, {.m = m,
                    .n = channels.count / groups,
                    .segments = segments_,
                    .segment_words = segment_words_,
                    .lhs = scratch.runs,
                    .rhs = rhs + group * group_rhs_words_,
                    .acc = scratch.acc + group * (channels.count / groups),
                    .acc_stride = channels.count});
  }
  for (size_t i = 0; i < m; ++i) {
    if (spec_.padding == Padding::kSameZero) {
      scratch.depth[i] = CorrectZeroPadding(start, channels, scratch.acc + i * channels.count);
      Advance(start, 1);
    } else {
      scratch.depth[i] = static_cast<int32_t>(spec_.depth());
    }
  }
  Transform(ops_, transform_,
            {.rows = m,
             .first_channel = channels.first,
             .channels = channels.count,
             .acc = scratch.acc,
             .acc_stride = channels.count,
             .depth = scratch.depth,
             .out = output + transform_.PixelBytes(channels.first),
             .out_stride = transform_.PixelBytes(static_cast<size_t>(spec_.out_channels))});
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
  // Tiles of about the same size: 49 pixels are 7 of 7, not 6 of 8 and one of 1.
  const int64_t pixels = last - first;
  const int64_t tiles = (pixels + row_.mr - 1) / row_.mr;
  Position position = Locate(first);
  int64_t begin = 0;
  for (int64_t tile = 1; tile <= tiles; ++tile) {
    const int64_t end = pixels * tile / tiles;
    RunTile(input, position, static_cast<size_t>(end - begin), channels, scratch,
            output + static_cast<size_t>(begin) * pixel_bytes);
    Advance(position, end - begin);
    begin = end;
  }
}

}  // namespace larq_engine
