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

// One worker's memory: the runs of a tile, the tile gathered (if not in place), its accumulators.
struct Bconv2d::Scratch {
  const uint32_t** runs;  // [segments][mr]
  uint32_t* gathered;     // [mr][segment_words]
  int32_t* acc;           // [mr][out_channels]
  size_t bytes;
};

Bconv2d::Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
                 const BgemmRow& row)
    : spec_(spec),
      transform_(std::move(transform)),
      row_(row),
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

void Bconv2d::Resize(int64_t batch, int64_t in_height, int64_t in_width) {
  rows_ = spec_.Rows(in_height);
  cols_ = spec_.Cols(in_width);
  pixels_ = batch * rows_.out * cols_.out;
}

int64_t Bconv2d::tiles() const { return (pixels_ + row_.mr - 1) / row_.mr; }

Bconv2d::Scratch Bconv2d::SplitScratch(std::byte* memory) const {
  size_t used = 0;
  const auto take = [&](size_t bytes) {
    std::byte* part = memory == nullptr ? nullptr : memory + used;
    used += RoundUp(bytes, kBufferAlignment);
    return part;
  };
  const size_t mr = static_cast<size_t>(row_.mr);
  Scratch scratch;
  scratch.runs = reinterpret_cast<const uint32_t**>(take(segments_ * mr * sizeof(uint32_t*)));
  scratch.gathered =
      reinterpret_cast<uint32_t*>(take(in_place_ ? 0 : mr * segment_words_ * sizeof(uint32_t)));
  scratch.acc = reinterpret_cast<int32_t*>(
      take(mr * static_cast<size_t>(spec_.out_channels) * sizeof(int32_t)));
  scratch.bytes = used;
  return scratch;
}

size_t Bconv2d::scratch_bytes() const { return SplitScratch(nullptr).bytes; }

void Bconv2d::PointRuns(const uint32_t* input, int64_t first_pixel, size_t m, size_t group,
                        const Scratch& scratch) const {
  const size_t mr = static_cast<size_t>(row_.mr);
  const size_t pixel_words = static_cast<size_t>(spec_.groups) * tap_words_;
  const uint32_t* channels = input + group * tap_words_;
  int64_t x = first_pixel % cols_.out;
  int64_t y = first_pixel / cols_.out % rows_.out;
  int64_t image = first_pixel / (cols_.out * rows_.out);
  for (size_t i = 0; i < m; ++i) {
    const int64_t first_y = y * rows_.stride - rows_.pad_before;
    const int64_t first_x = x * cols_.stride - cols_.pad_before;
    const uint32_t** run = scratch.runs + i;
    uint32_t* gathered = scratch.gathered + i * segment_words_;
    for (int64_t iy = first_y; iy < first_y + rows_.taps * rows_.dilation; iy += rows_.dilation) {
      const bool line_inside = iy >= 0 && iy < rows_.in;
      // Far outside, where large dilations reach, the product would not fit.
      const int64_t line = line_inside ? (image * rows_.in + iy) * cols_.in : 0;
      for (int64_t ix = first_x; ix < first_x + cols_.taps * cols_.dilation; ix += cols_.dilation) {
        const bool inside = line_inside && ix >= 0 && ix < cols_.in;
        const uint32_t* tap =
            inside ? channels + static_cast<size_t>(line + ix) * pixel_words : padding_run_.data();
        if (in_place_) {
          *run = tap;
          run += mr;
        } else {
          gathered = std::copy_n(tap, tap_words_, gathered);
        }
      }
    }
    if (!in_place_) {
      uint32_t* begin = scratch.gathered + i * segment_words_;
      std::fill(gathered, begin + segment_words_, 0);
      *run = begin;
    }
    if (++x == cols_.out) {
      x = 0;
      if (++y == rows_.out) {
        y = 0;
        ++image;
      }
    }
  }
}

void Bconv2d::CountTile(const uint32_t* input, int64_t first_pixel, size_t m,
                        const Scratch& scratch) const {
  const size_t group_out = static_cast<size_t>(spec_.group_out_channels());
  for (size_t group = 0; group < static_cast<size_t>(spec_.groups); ++group) {
    PointRuns(input, first_pixel, m, group, scratch);
    RunBgemm(row_, {.m = m,
                    .n = group_out,
                    .segments = segments_,
                    .segment_words = segment_words_,
                    .lhs = scratch.runs,
                    .rhs = rhs_.data() + group * group_rhs_words_,
                    .acc = scratch.acc + group * group_out,
                    .acc_stride = static_cast<size_t>(spec_.out_channels)});
  }
}

// A tap outside the image was counted against +1 (0 bits), where it found the filter's ones. Takes
// them out of acc and returns how many products are left.
int32_t Bconv2d::CorrectZeroPadding(int64_t pixel, int32_t* acc) const {
  const WindowAxis::Taps ys = rows_.InsideTaps(pixel / cols_.out % rows_.out);
  const WindowAxis::Taps xs = cols_.InsideTaps(pixel % cols_.out);
  const int64_t inside = (ys.last - ys.first) * (xs.last - xs.first);
  if (inside != spec_.taps()) {
    const size_t channels = static_cast<size_t>(spec_.out_channels);
    const auto corner = [&](int64_t y, int64_t x) {
      return filter_ones_.data() + static_cast<size_t>(y * (cols_.taps + 1) + x) * channels;
    };
    const int32_t* total = corner(rows_.taps, cols_.taps);
    const int32_t* bottom_right = corner(ys.last, xs.last);
    const int32_t* top_right = corner(ys.first, xs.last);
    const int32_t* bottom_left = corner(ys.last, xs.first);
    const int32_t* top_left = corner(ys.first, xs.first);
    for (size_t n = 0; n < channels; ++n) {
      const int32_t ones_inside = bottom_right[n] - top_right[n] - bottom_left[n] + top_left[n];
      acc[n] -= total[n] - ones_inside;
    }
  }
  return static_cast<int32_t>(inside * spec_.group_in_channels());
}

void Bconv2d::Run(const uint32_t* input, int64_t first, int64_t last, std::byte* scratch_memory,
                  std::byte* output) const {
  const Scratch scratch = SplitScratch(scratch_memory);
  const size_t channels = static_cast<size_t>(spec_.out_channels);
  const size_t pixel_bytes = transform_.PixelBytes(channels);
  for (int64_t tile = first; tile < last; ++tile) {
    const int64_t first_pixel = tile * row_.mr;
    const int64_t m = std::min<int64_t>(row_.mr, pixels_ - first_pixel);
    CountTile(input, first_pixel, static_cast<size_t>(m), scratch);
    for (int64_t i = 0; i < m; ++i) {
      const int64_t pixel = first_pixel + i;
      int32_t* acc = scratch.acc + static_cast<size_t>(i) * channels;
      const int32_t depth = spec_.padding == Padding::kSameZero
                                ? CorrectZeroPadding(pixel, acc)
                                : static_cast<int32_t>(spec_.depth());
      TransformPixel(transform_, acc, depth, channels,
                     output + static_cast<size_t>(pixel) * pixel_bytes);
    }
  }
}

}  // namespace larq_engine
