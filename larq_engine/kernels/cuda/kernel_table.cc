#include "larq_engine/kernels/cuda/kernel_table.h"

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels_args.h"

namespace larq_engine::cuda {
namespace {

constexpr KernelRow kRows[] = {
#define LARQ_ENGINE_CUDA_KERNEL(name, Args, threads, shared_bytes, blocks, ...) \
  {#name, "larq_engine_" #name, sizeof(Args), threads, shared_bytes},
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL
};

}  // namespace

std::span<const KernelRow> KernelRows() { return kRows; }

}  // namespace larq_engine::cuda
