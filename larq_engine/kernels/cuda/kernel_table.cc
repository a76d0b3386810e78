#include "larq_engine/kernels/cuda/kernel_table.h"

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/bconv2d_tiles.h"
#include "larq_engine/kernels/cuda/block_bounds.h"
#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels_args.h"

namespace larq_engine::cuda {
namespace {

constexpr KernelRow kRows[] = {
#define LARQ_ENGINE_CUDA_KERNEL(kernel, Args, bounds, ...) \
  {.name = #kernel,                                        \
   .symbol = "larq_engine_" #kernel,                       \
   .args_bytes = sizeof(Args),                             \
   .threads = (bounds).threads,                            \
   .shared_bytes = (bounds).shared_bytes},
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL
};

}  // namespace

std::span<const KernelRow> KernelRows() { return kRows; }

}  // namespace larq_engine::cuda
