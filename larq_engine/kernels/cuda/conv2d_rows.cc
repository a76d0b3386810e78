#include "larq_engine/kernels/cuda/conv2d_rows.h"

namespace larq_engine::cuda {
namespace {

// The smallest last.
constexpr Conv2dRow kRows[] = {
    {KernelId::conv2d_64x64, 64, 64},
    {KernelId::conv2d_128x32, 128, 32},
    {KernelId::conv2d_32x32, 32, 32},
};

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

const Conv2dRow& SelectConv2d(const Conv2dArgs& args, const Chip& chip) {
  const Conv2dRow& large = args.out_channels > 32 ? kRows[0] : kRows[1];
  return large.size(args).blocks >= chip.multiprocessors ? large : kRows[2];
}

}  // namespace larq_engine::cuda
