#include "larq_engine/kernels/cuda/conv2d_rows.h"

namespace larq_engine::cuda {
namespace {

constexpr int kWordBits = 32;

// The rows, with the smallest tile last.
constexpr Conv2dRow kRows[] = {
    {.kernel = KernelId::conv2d_64x64, .pixels = 64, .channels = 64},
    {.kernel = KernelId::conv2d_128x32, .pixels = 128, .channels = 32},
    {.kernel = KernelId::conv2d_64x16, .pixels = 64, .channels = 16},
    {.kernel = KernelId::conv2d_32x32, .pixels = 32, .channels = 32},
};
constexpr Conv2dRow kDepthwisePointwise[] = {
    {.kernel = KernelId::depthwise_pointwise_64x64, .pixels = 64, .channels = 64},
    {.kernel = KernelId::depthwise_pointwise_32x32, .pixels = 32, .channels = 32},
};

bool HasFilter(const ImageWindow& w, int filter) {
  return w.filter_height == filter && w.filter_width == filter;
}

}  // namespace

int32_t Conv2dRow::channel_tiles(const Conv2dArgs& args) const {
  return static_cast<int32_t>((int64_t{args.out_channels} + channels - 1) / channels);
}

LaunchSize Conv2dRow::size(const Conv2dArgs& args) const {
  const ImageWindow& w = args.window;
  const int64_t out_pixels = int64_t{w.batch} * w.out_height.value * w.out_width.value;
  const int64_t tiles = (out_pixels + pixels - 1) / pixels * channel_tiles(args);
  const KernelRow& row = RowOf(kernel);
  return {.blocks = tiles, .threads = row.threads, .shared_bytes = row.shared_bytes};
}

std::span<const Conv2dRow> Conv2dRows() { return kRows; }
std::span<const Conv2dRow> DepthwisePointwiseRows() { return kDepthwisePointwise; }

bool Takes(const Conv2dRow& row, const Conv2dArgs& args) {
  return row.channels % kWordBits == 0 || args.out_channels <= row.channels;
}

const Conv2dRow& SelectConv2d(const Conv2dArgs& args, const Chip& chip) {
  const Conv2dRow& large = kRows[args.out_channels > 32 ? 0 : args.out_channels > 16 ? 1 : 2];
  return large.size(args).blocks >= chip.multiprocessors ? large : kRows[3];
}

const Conv2dRow& SelectDepthwisePointwise(const Conv2dArgs& pointwise, const Chip& chip) {
  const Conv2dRow& large = kDepthwisePointwise[0];
  const Conv2dRow& small = kDepthwisePointwise[1];
  const bool fills = large.size(pointwise).blocks >= chip.multiprocessors;
  return fills || pointwise.out_channels > small.channels ? large : small;
}

bool TakesDepthwisePointwise(const DepthwiseArgs& depthwise, const Conv2dArgs& pointwise) {
  const ImageWindow& w = pointwise.window;
  return HasFilter(depthwise.window, 3) && depthwise.multiplier.value == 1 &&
         depthwise.out_channels % 4 == 0 && HasFilter(w, 1) && w.stride_height == 1 &&
         w.stride_width == 1 && w.pad_top == 0 && w.pad_left == 0 &&
         pointwise.out_channels <= kDepthwisePointwise[0].channels;
}

}  // namespace larq_engine::cuda
