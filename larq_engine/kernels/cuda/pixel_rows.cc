#include "larq_engine/kernels/cuda/pixel_rows.h"

#include "larq_engine/kernels/cuda/block_bounds.h"

namespace larq_engine::cuda {
namespace {

constexpr int kWordBits = 32;
constexpr uint32_t kThreads = BlockBounds{}.threads;

constexpr PixelRow kPixels[] = {{.kernel = KernelId::pixels_x4, .values = 4},
                                {.kernel = KernelId::pixels, .values = 1}};
constexpr PixelRow kMaxPool[] = {{.kernel = KernelId::max_pool_2x2, .values = 4, .filter = 2},
                                 {.kernel = KernelId::max_pool_3x3, .values = 4, .filter = 3},
                                 {.kernel = KernelId::max_pool_floats_x4, .values = 4},
                                 {.kernel = KernelId::max_pool_floats, .values = 1}};
constexpr PixelRow kAveragePool[] = {{.kernel = KernelId::average_pool_x4, .values = 4},
                                     {.kernel = KernelId::average_pool, .values = 1}};
constexpr PixelRow kDepthwise[] = {
    {.kernel = KernelId::depthwise_conv2d_3x3, .values = 4, .filter = 3},
    {.kernel = KernelId::depthwise_conv2d_x4, .values = 4},
    {.kernel = KernelId::depthwise_conv2d, .values = 1}};
// The windows of the convolutions have 3 lines and columns.
constexpr PixelRow kPooledDepthwise[] = {
    {.kernel = KernelId::pooled_2x2_depthwise_3x3, .values = 4, .filter = 2},
    {.kernel = KernelId::pooled_3x3_depthwise_3x3, .values = 4, .filter = 3}};

bool HasFilter(const ImageWindow& w, int filter) {
  return filter == 0 || (w.filter_height == filter && w.filter_width == filter);
}

int64_t OutPixels(const ImageWindow& w) {
  return int64_t{w.batch} * w.out_height.value * w.out_width.value;
}

// Returns a launch with threads for the channels of each pixel, and fills in `lanes`. If the
// program makes bits, the threads of a word are in one warp.
LaunchSize ForEachPixel(const PixelRow& row, int64_t pixels, int64_t channels,
                        const PixelProgram& program, Divisor& lanes) {
  const int64_t whole = program.bits == nullptr ? row.values : kWordBits;
  lanes = MakeDivisor(static_cast<int32_t>((channels + whole - 1) / whole * whole / row.values));
  return {.blocks = (pixels * lanes.value + kThreads - 1) / kThreads, .threads = kThreads};
}

}  // namespace

std::span<const PixelRow> PixelsRows() { return kPixels; }
std::span<const PixelRow> MaxPoolRows() { return kMaxPool; }
std::span<const PixelRow> AveragePoolRows() { return kAveragePool; }
std::span<const PixelRow> DepthwiseRows() { return kDepthwise; }
std::span<const PixelRow> PooledDepthwiseRows() { return kPooledDepthwise; }

bool Takes(const PixelRow& row, const PixelsArgs& args) { return args.channels % row.values == 0; }
bool Takes(const PixelRow& row, const PoolArgs& args) {
  return args.window.channels % row.values == 0 && HasFilter(args.window, row.filter);
}
bool Takes(const PixelRow& row, const DepthwiseArgs& args) {
  return (row.values == 1 || (args.multiplier.value == 1 && args.out_channels % row.values == 0)) &&
         HasFilter(args.window, row.filter);
}
bool Takes(const PixelRow& row, const PooledDepthwiseArgs& args) {
  return HasFilter(args.pool, row.filter) && args.pool.stride_height == 1 &&
         args.pool.stride_width == 1 && HasFilter(args.conv.window, 3) &&
         Takes({row.kernel, row.values}, args.conv);
}

LaunchSize Prepare(const PixelRow& row, PixelsArgs& args) {
  return ForEachPixel(row, args.pixels, args.channels, args.program, args.lanes);
}
LaunchSize Prepare(const PixelRow& row, PoolArgs& args) {
  return ForEachPixel(row, OutPixels(args.window), args.window.channels, args.program, args.lanes);
}
LaunchSize Prepare(const PixelRow& row, DepthwiseArgs& args) {
  return ForEachPixel(row, OutPixels(args.window), args.out_channels, args.program, args.lanes);
}

LaunchSize Prepare(const PixelRow& row, PooledDepthwiseArgs& args) {
  return Prepare(row, args.conv);
}

}  // namespace larq_engine::cuda
