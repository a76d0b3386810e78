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
  int values;  // channels of a thread
};

// What is chosen comes first; the last takes everything.
std::span<const PixelRow> PixelsRows();
std::span<const PixelRow> MaxPoolRows();
std::span<const PixelRow> AveragePoolRows();
std::span<const PixelRow> DepthwiseRows();

// Whether the kernel computes it. All tensors begin where a thread's values may be read at once.
bool Takes(const PixelRow& row, const PixelsArgs& args);
bool Takes(const PixelRow& row, const PoolArgs& args);
bool Takes(const PixelRow& row, const DepthwiseArgs& args);

// Fills in the arguments' lanes.
LaunchSize Prepare(const PixelRow& row, PixelsArgs& args);
LaunchSize Prepare(const PixelRow& row, PoolArgs& args);
LaunchSize Prepare(const PixelRow& row, DepthwiseArgs& args);

template <class Args>
const PixelRow& SelectPixelRow(std::span<const PixelRow> rows, const Args& args) {
  const PixelRow* row = rows.data();
  while (!Takes(*row, args)) ++row;
  return *row;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_ROWS_H_
