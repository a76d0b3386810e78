// The most that a launch of a kernel gives to a block, as the kernel is compiled. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BLOCK_BOUNDS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BLOCK_BOUNDS_H_

#include <cstdint>

namespace larq_engine::cuda {

struct BlockBounds {
  uint32_t threads = 128;
  uint32_t shared_bytes = 0;  // dynamic
  // The number of blocks that a multiprocessor's registers are meant for; 0 leaves it to nvcc.
  uint32_t blocks = 0;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BLOCK_BOUNDS_H_
