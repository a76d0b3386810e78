// The host's table of the rows of kernels.inc.
#ifndef LARQ_ENGINE_KERNELS_CUDA_KERNEL_TABLE_H_
#define LARQ_ENGINE_KERNELS_CUDA_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace larq_engine::cuda {

enum class KernelId : uint8_t {
#define LARQ_ENGINE_CUDA_KERNEL(name, ...) name,
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL
};

struct KernelRow {
  const char* name;    // as options and profiles have it
  const char* symbol;  // as the image has it
  size_t args_bytes;
  uint32_t threads;       // of a block, at most
  uint32_t shared_bytes;  // dynamic, at most
};

// Returns the rows, indexed by KernelId.
std::span<const KernelRow> KernelRows();

inline const KernelRow& RowOf(KernelId id) { return KernelRows()[static_cast<size_t>(id)]; }

// The number of blocks that run a kernel, and the threads and shared memory of each.
struct LaunchSize {
  int64_t blocks = 1;
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_KERNEL_TABLE_H_
