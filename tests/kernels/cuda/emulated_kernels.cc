#include "tests/kernels/cuda/emulated_kernels.h"

#include <cstring>
#include <type_traits>
#include <vector>

#include "larq_engine/kernels/cuda/all_kernels.h"
#include "larq_engine/kernels/cuda/run_kernel.h"

namespace larq_engine::testing {
namespace {

using namespace larq_engine::cuda;

// A program that runs no binary convolutions is compiled in half the time without them.
#ifdef LARQ_ENGINE_WITHOUT_BCONV2D
template <class Args>
constexpr bool kIsThere =
    !std::is_same_v<Args, Bconv2dArgs> && !std::is_same_v<Args, Bconv2dTmaArgs>;
#else
template <class Args>
constexpr bool kIsThere = true;
#endif

template <class Args, class Kernel>
void Run(const void* args, const Kernel& kernel) {
  if constexpr (kIsThere<Args>) RunKernel([&] { kernel(*static_cast<const Args*>(args)); });
}

constexpr EmulatedKernel kKernels[] = {
#define LARQ_ENGINE_CUDA_KERNEL(name, Args, bounds, ...) \
  {#name, sizeof(Args), (bounds).threads,                \
   [](const void* args) { Run<Args>(args, [](const auto& a) { __VA_ARGS__(a); }); }},
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL
};

}  // namespace

std::span<const EmulatedKernel> EmulatedKernels() { return kKernels; }

const EmulatedKernel* FindEmulatedKernel(std::string_view name) {
  for (const EmulatedKernel& kernel : kKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

emulated_gpu::Counters LaunchEmulated(const EmulatedKernel& kernel, const void* args,
                                      emulated_gpu::Dim3 grid, emulated_gpu::Dim3 block,
                                      size_t shared_bytes, const emulated_gpu::Options& options) {
  std::vector<TensorMap> copy(kernel.args_bytes / sizeof(TensorMap) + 1);  // most aligned type
  std::memcpy(copy.data(), args, kernel.args_bytes);
  emulated_gpu::Options early = options;
  if (!early.complete_earlier) early.complete_earlier = [] {};
  return emulated_gpu::Launch([&] { kernel.run(copy.data()); }, grid, block, shared_bytes, early);
}

}  // namespace larq_engine::testing
