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

LaunchSize Conv2dRow::size(const Conv2dArgs& args) const {
  const ImageWindow& w = args.window;
  const int64_t out_pixels = int64_t{w.batch} * w.out_height * w.out_width;
  const int64_t tiles = ((out_pixels + pixels - 1) / pixels) *
                        ((int64_t{args.out_channels} + channels - 1) / channels);
  const KernelRow& row = RowOf(kernel);
  return {.blocks = tiles, .threads = row.threads, .shared_bytes = row.shared_bytes};
}

std::span<const Conv2dRow> Conv2dRows() { return kRows; }

Conv2dChoice SelectConv2d(const Conv2dArgs& args, const Chip& chip) {
  const Conv2dRow& large = args.out_channels > 32 ? kRows[0] : kRows[1];
  const LaunchSize size = large.size(args);
  if (size.blocks >= chip.multiprocessors) return {large.kernel, size};
  return {kRows[2].kernel, kRows[2].size(args)};
}

}  // namespace larq_engine::cuda
