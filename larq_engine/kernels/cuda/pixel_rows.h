// The choice among the kernels that go through the pixels of an output. Their results are the same.
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
  int values;      // channels of a thread
  int filter = 0;  // lines and columns of the window, of a pool where there are two; 0: any
};

// What is chosen comes first; the last takes everything but pools with convolutions, for which
// there may be none.
std::span<const PixelRow> PixelsRows();
std::span<const PixelRow> MaxPoolRows();
std::span<const PixelRow> AveragePoolRows();
std::span<const PixelRow> DepthwiseRows();
std::span<const PixelRow> PooledDepthwiseRows();

// Whether the kernel computes it. All tensors begin where a thread's values may be read at once.
bool Takes(const PixelRow& row, const PixelsArgs& args);
bool Takes(const PixelRow& row, const PoolArgs& args);
bool Takes(const PixelRow& row, const DepthwiseArgs& args);
bool Takes(const PixelRow& row, const PooledDepthwiseArgs& args);

// Fills in the arguments' lanes.
LaunchSize Prepare(const PixelRow& row, PixelsArgs& args);
LaunchSize Prepare(const PixelRow& row, PoolArgs& args);
LaunchSize Prepare(const PixelRow& row, DepthwiseArgs& args);
LaunchSize Prepare(const PixelRow& row, PooledDepthwiseArgs& args);

// The first that computes it, or null.
template <class Args>
const PixelRow* FindPixelRow(std::span<const PixelRow> rows, const Args& args) {
  for (const PixelRow& row : rows) {
    if (Takes(row, args)) return &row;
  }
  return nullptr;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_ROWS_H_
