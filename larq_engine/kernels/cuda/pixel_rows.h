// The choice among the kernels that go through the pixels of an output. All rows of a table give
// the same results.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXEL_ROWS_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXEL_ROWS_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/kernel_table.h"
#include "larq_engine/kernels/cuda/pixels_args.h"

namespace larq_engine::cuda {

struct PixelRow {
  KernelId kernel;
  int values;      // channels that a thread computes
  int filter = 0;  // lines and columns of the window (of the pool's, if there are two); 0: any
};

// The rows in order of preference. The last one takes any layer, except for pools with
// convolutions: these may have no row at all.
std::span<const PixelRow> PixelsRows();
std::span<const PixelRow> MaxPoolRows();
std::span<const PixelRow> AveragePoolRows();
std::span<const PixelRow> DepthwiseRows();
std::span<const PixelRow> PooledDepthwiseRows();

// Tells whether the kernel computes the layer. All tensors must be aligned for loads of a thread's
// values at once.
bool Takes(const PixelRow& row, const PixelsArgs& args);
bool Takes(const PixelRow& row, const PoolArgs& args);
bool Takes(const PixelRow& row, const DepthwiseArgs& args);
bool Takes(const PixelRow& row, const PooledDepthwiseArgs& args);

// Fills in the arguments' lanes, and returns the size of the launch.
LaunchSize Prepare(const PixelRow& row, PixelsArgs& args);
LaunchSize Prepare(const PixelRow& row, PoolArgs& args);
LaunchSize Prepare(const PixelRow& row, DepthwiseArgs& args);
LaunchSize Prepare(const PixelRow& row, PooledDepthwiseArgs& args);

// Returns the first row that computes the layer, or null.
template <class Args>
const PixelRow* FindPixelRow(std::span<const PixelRow> rows, const Args& args) {
  for (const PixelRow& row : rows) {
    if (Takes(row, args)) return &row;
  }
  return nullptr;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_ROWS_H_
