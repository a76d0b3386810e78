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

// Larger filters than this stay in no cache of a core, and a product reads all filters of its
// channels for each tile: three layers of 512 channels at 7x7 pixels took 22 ms of ResNet-18's 61
// on a Zen 3.
constexpr size_t kLargeFilters = 2048 * 1024;

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

size_t FilterBytes(const FloatConv2dSpec& spec) {
  return MemoryProduct(GroupColumns(spec), static_cast<size_t>(spec.depth()) * sizeof(float));
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
      has_large_filters_(block_channels_ != 0 && FilterBytes(spec) > kLargeFilters),
      runs_(SpecOfWords(spec), kFloatPixels),
      filters_(PackFilters(spec, filter, static_cast<size_t>(row.nr))),
      bias_(PackBias(spec, bias)) {
  assert(!spec.has_multiplier());
  for (size_t i = 0; i < kFloatPixels; ++i) {
    neighbours_[i] = static_cast<ptrdiff_t>(i) * static_cast<ptrdiff_t>(spec.in_channels);
  }
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
  const size_t tiles = has_large_filters_ ? kManyTiles : 1;
  for (size_t tile = 0; tile < tiles; ++tile) runs_.TakeScratch(parts);
  return parts.bytes();
}

void FloatConv2d::Run(const float* input, int64_t first, int64_t last, int64_t first_block,
                      int64_t last_block, std::byte* scratch, float* output) const {
  if (first == last || first_block == last_block) return;
  Place place = {.input = input, .pixels = last - first, .start = {}, .output = output};
  if (!spec_.is_pixelwise()) place.start = grid_.Locate(first);
  if (has_large_filters_) return MultiplyLarge(place, first_block, last_block, scratch);
  place.output += FirstChannel(first_block);
  ScratchParts parts(scratch);
  ptrdiff_t* taps = runs_.TakeScratch(parts);
  FloatArgs tile{};
  SetColumns(first_block, last_block, tile);
  while (place.pixels > 0) {
    FindTile(place, taps, tile);
    Multiply(tile);
  }
}

void FloatConv2d::MultiplyLarge(Place& place, int64_t first_block, int64_t last_block,
                                std::byte* scratch) const {
  std::array<FloatArgs, kManyTiles> tiles{};
  while (place.pixels > 0) {
    ScratchParts parts(scratch);
    size_t count = 0;
    for (; count < kManyTiles && place.pixels > 0; ++count) {
      FindTile(place, runs_.TakeScratch(parts), tiles[count]);
    }
    for (int64_t block = first_block; block < last_block; ++block) {
      for (size_t i = 0; i < count; ++i) {
        FloatArgs tile = tiles[i];
        tile.out += FirstChannel(block);
        SetColumns(block, block + 1, tile);
        Multiply(tile);
      }
    }
  }
}

// Sets the left side of the next tile, and where its pixels are in the output.
void FloatConv2d::FindTile(Place& place, ptrdiff_t* taps, FloatArgs& tile) const {
  tile.out = place.output;
  if (spec_.is_pixelwise()) {
    FindPixels(place, tile);
  } else {
    FindTaps(place, taps, tile);
  }
  place.pixels -= static_cast<int64_t>(tile.m);
  place.output += tile.m * static_cast<size_t>(spec_.out_channels);
}

void FloatConv2d::FindPixels(Place& place, FloatArgs& tile) const {
  tile.m = std::min(static_cast<size_t>(place.pixels), kFloatPixels);
  tile.lhs_base = place.input;
  tile.lhs = neighbours_.data();
  tile.pixel_step = tile.segment_words = static_cast<size_t>(spec_.in_channels);
  tile.segments = 1;
  place.input += tile.m * tile.segment_words;
}

void FloatConv2d::FindTaps(Place& place, ptrdiff_t* taps, FloatArgs& tile) const {
  int64_t pixels = std::min(place.pixels, static_cast<int64_t>(kFloatPixels));
  if (spec_.is_depthwise || grid_.width().out >= kLongLine) {
    pixels = grid_.PixelsAlike(place.start, pixels);
  }
  BgemmArgs found{};
  found.m = tile.m = static_cast<size_t>(pixels);
  const bool is_inner =
      runs_.Find(grid_, reinterpret_cast<const uint32_t*>(place.input), place.start, taps, found);
  tile.lhs_base = reinterpret_cast<const float*>(found.lhs_base);
  tile.lhs = found.lhs;
  tile.pixel_step =
      is_inner ? static_cast<size_t>(spec_.window.width.stride * spec_.in_channels) : 0;
  tile.segments = found.segments;
  tile.segment_words = found.segment_words;
  grid_.Advance(place.start, pixels);
}

// Sets all that depends on the channels.
void FloatConv2d::SetColumns(int64_t first_block, int64_t last_block, FloatArgs& tile) const {
  const auto channels = static_cast<size_t>(spec_.out_channels);
  const size_t first_channel = FirstChannel(first_block);
  const size_t last_channel = last_block == channel_blocks() ? channels : FirstChannel(last_block);
  tile.n = (last_channel - first_channel) / static_cast<size_t>(spec_.groups);
  tile.rhs = filters_.data() + first_channel * static_cast<size_t>(spec_.depth());
  tile.bias = bias_.data() + first_channel;
  tile.range = range_;
  tile.out_stride = channels;
}

void FloatConv2d::Multiply(const FloatArgs& args) const {
  const FloatFn product = spec_.is_depthwise ? row_.of_channels : row_.of_pixels;
  if (spec_.groups == 1) return product(args);
  FloatArgs tile = args;
  for (int64_t group = 0; group < spec_.groups; ++group) {
    product(tile);
    tile.lhs_base = LhsRun(tile.lhs_base, spec_.group_in_channels());
    tile.out += tile.n;
    tile.rhs += group_columns_ * static_cast<size_t>(spec_.depth());
    tile.bias += group_columns_;
  }
}

}  // namespace larq_engine
