#include "larq_engine/kernels/layers/float_conv2d.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {
namespace {

// In lines of at least this many pixels, tiles end where the line's inner pixels end. The taps of
// other pixels are found one by one, which in a first layer of 16 filters takes longer than their
// products.
constexpr int64_t kLongLine = 48;

// TapRuns finds taps in words, and a float is one word. Words around the image are 0, and so are
// the floats there.
Bconv2dSpec SpecOfWords(const FloatConv2dSpec& spec) {
  return {.in_channels = spec.in_channels * static_cast<int64_t>(kWordBits),
          .out_channels = spec.out_channels,
          .groups = spec.groups,
          .window = spec.window,
          .pad_value = PadValue::kOne};
}

size_t GroupColumns(const FloatConv2dSpec& spec) {
  return RoundUp(static_cast<size_t>(spec.group_out_channels()), kFloatLanes);
}

// Packs filters as clause RightSide of float_product.h demands, one group after the other.
SharedBuffer<float> PackFilters(const FloatConv2dSpec& spec, const float* filter, size_t nr) {
  const auto channels = static_cast<size_t>(spec.group_out_channels());
  const auto depth = static_cast<size_t>(spec.depth());
  const size_t columns = GroupColumns(spec);
  const size_t width = spec.is_depthwise ? columns : nr;
  AlignedBuffer<float> packed(
      MemoryProduct(static_cast<size_t>(spec.groups), MemoryProduct(columns, depth)));
  float* to = packed.data();
  for (int64_t group = 0; group < spec.groups; ++group, filter += channels * depth) {
    for (size_t first = 0; first < columns; first += width) {
      const size_t last = std::min(first + width, columns);
      for (size_t k = 0; k < depth; ++k) {
        for (size_t c = first; c < last; ++c) {
          const size_t from = spec.is_depthwise ? k * channels + c : c * depth + k;
          *to++ = c < channels ? filter[from] : 0.0f;
        }
      }
    }
  }
  return SharedBuffer(std::move(packed));
}

AlignedBuffer<float> PackBias(const FloatConv2dSpec& spec, const float* bias) {
  const auto channels = static_cast<size_t>(spec.group_out_channels());
  const size_t columns = GroupColumns(spec);
  AlignedBuffer<float> packed(MemoryProduct(static_cast<size_t>(spec.groups), columns));
  std::fill_n(packed.data(), packed.size(), 0.0f);
  for (size_t group = 0; group < static_cast<size_t>(spec.groups); ++group) {
    std::copy_n(bias + group * channels, channels, packed.data() + group * columns);
  }
  return packed;
}

}  // namespace

FloatConv2d::FloatConv2d(const FloatConv2dSpec& spec, const float* filter, const float* bias,
                         FloatRange range, const FloatRow& row)
    : spec_(spec),
      row_(row),
      range_(range),
      group_columns_(GroupColumns(spec)),
      block_channels_(spec.is_depthwise || spec.groups > 1 ? 0 : static_cast<size_t>(row.nr)),
      runs_(SpecOfWords(spec), kFloatPixels),
      filters_(PackFilters(spec, filter, static_cast<size_t>(row.nr))),
      bias_(PackBias(spec, bias)) {
  assert(!spec.has_multiplier());
}

void FloatConv2d::Resize(int64_t in_height, int64_t in_width) {
  grid_ = OutputGrid(spec_.window.Over(in_height, in_width));
  if (!spec_.is_pixelwise()) runs_.Resize(grid_);
}

int64_t FloatConv2d::channel_blocks() const {
  if (block_channels_ == 0) return 1;
  const auto channels = static_cast<size_t>(spec_.out_channels);
  return static_cast<int64_t>((channels + block_channels_ - 1) / block_channels_);
}

size_t FloatConv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  runs_.TakeScratch(parts);
  return parts.bytes();
}

void FloatConv2d::Run(const float* input, int64_t first, int64_t last, int64_t first_block,
                      int64_t last_block, std::byte* scratch, float* output) const {
  if (first == last || first_block == last_block) return;
  const auto channels = static_cast<size_t>(spec_.out_channels);
  const size_t first_channel = static_cast<size_t>(first_block) * block_channels_;
  const size_t last_channel =
      last_block == channel_blocks() ? channels : static_cast<size_t>(last_block) * block_channels_;
  FloatArgs args{};
  args.n = (last_channel - first_channel) / static_cast<size_t>(spec_.groups);
  args.rhs = filters_.data() + first_channel * static_cast<size_t>(spec_.depth());
  args.bias = bias_.data() + first_channel;
  args.range = range_;
  args.out = output + first_channel;
  args.out_stride = channels;
  if (spec_.is_pixelwise()) {
    RunPixels(input, last - first, args);
  } else {
    RunTaps(input, first, last, scratch, args);
  }
}

void FloatConv2d::RunPixels(const float* input, int64_t pixels, FloatArgs& args) const {
  std::array<ptrdiff_t, kFloatPixels> neighbours;
  for (size_t i = 0; i < kFloatPixels; ++i) {
    neighbours[i] = static_cast<ptrdiff_t>(i) * static_cast<ptrdiff_t>(spec_.in_channels);
  }
  args.lhs = neighbours.data();
  args.pixel_step = args.segment_words = static_cast<size_t>(spec_.in_channels);
  args.segments = 1;
  for (auto left = static_cast<size_t>(pixels); left > 0; left -= args.m) {
    args.m = std::min(left, kFloatPixels);
    args.lhs_base = input;
    row_.of_pixels(args);
    input += args.m * args.segment_words;
    args.out += args.m * args.out_stride;
  }
}

void FloatConv2d::RunTaps(const float* input, int64_t first, int64_t last, std::byte* scratch,
                          FloatArgs& args) const {
  ScratchParts parts(scratch);
  ptrdiff_t* taps = runs_.TakeScratch(parts);
  const FloatFn product = spec_.is_depthwise ? row_.of_channels : row_.of_pixels;
  const FloatArgs of_first_group = args;
  OutputGrid::Position start = grid_.Locate(first);
  BgemmArgs found{};
  for (float* out = args.out; first < last;) {
    int64_t pixels = std::min(last - first, static_cast<int64_t>(kFloatPixels));
    if (spec_.is_depthwise || grid_.width().out >= kLongLine) {
      pixels = grid_.PixelsAlike(start, pixels);
    }
    found.m = args.m = static_cast<size_t>(pixels);
    args.out = out;
    args.rhs = of_first_group.rhs;
    args.bias = of_first_group.bias;
    const bool is_inner =
        runs_.Find(grid_, reinterpret_cast<const uint32_t*>(input), start, taps, found);
    args.pixel_step =
        is_inner ? static_cast<size_t>(spec_.window.width.stride * spec_.in_channels) : 0;
    args.lhs_base = reinterpret_cast<const float*>(found.lhs_base);
    args.lhs = found.lhs;
    args.segments = found.segments;
    args.segment_words = found.segment_words;
    for (int64_t group = 0; group < spec_.groups; ++group) {
      product(args);
      args.lhs_base = LhsRun(args.lhs_base, spec_.group_in_channels());
      args.out += args.n;
      args.rhs += group_columns_ * static_cast<size_t>(spec_.depth());
      args.bias += group_columns_;
    }
    grid_.Advance(start, pixels);
    out += args.m * args.out_stride;
    first += pixels;
  }
}

}  // namespace larq_engine
