// All kernels for GPUs on the emulated GPU, which are found by name as a driver finds them.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_EMULATED_KERNELS_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_EMULATED_KERNELS_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "larq_engine/kernels/cuda/emulated_gpu.h"

namespace larq_engine::testing {

struct EmulatedKernel {
  std::string_view name;  // the row's name
  size_t args_bytes;      // bytes of its one parameter
  unsigned threads;       // threads of a block
  void (*run)(const void* args);
};

std::span<const EmulatedKernel> EmulatedKernels();

// Returns the kernel, or null if there is none of that name.
const EmulatedKernel* FindEmulatedKernel(std::string_view name);

// Runs a kernel as a launch that begins early: each thread has to wait for the launches before.
// `args` need not be aligned, as a driver gets bytes.
emulated_gpu::Counters LaunchEmulated(const EmulatedKernel& kernel, const void* args,
                                      emulated_gpu::Dim3 grid, emulated_gpu::Dim3 block,
                                      size_t shared_bytes, const emulated_gpu::Options& options);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_EMULATED_KERNELS_H_
