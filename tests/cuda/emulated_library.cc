// Exports what liblarq_engine_cuda.so exports, with the kernels of this version of larq_engine in
// the form that the fake driver loads: the emulated GPU takes the place of a fat binary.
#include <cstring>
#include <iterator>

#include "larq_engine/kernels/cuda/image.h"
#include "larq_engine/version.h"
#include "tests/cuda/emulated_image.h"
#include "tests/kernels/cuda/emulated_kernels.h"

namespace larq_engine::testing {
namespace {

void Run(const char* name, const void* args, const unsigned grid[3], const unsigned block[3],
         size_t shared_bytes, uint64_t order, bool early_copies,
         const std::function<void()>& complete_earlier) {
  using emulated_gpu::Options;
  LaunchEmulated(*FindEmulatedKernel(name), args, {grid[0], grid[1], grid[2]},
                 {block[0], block[1], block[2]}, shared_bytes,
                 {.order = static_cast<Options::Order>(order % (Options::kRandom + 1)),
                  .seed = order,
                  .early_copies = early_copies,
                  .complete_earlier = complete_earlier});
}

EmulatedImage MakeImage() {
  static const EmulatedImageKernel kernels[] = {
#define LARQ_ENGINE_CUDA_KERNEL(name, ...)                                                    \
  {"larq_engine_" #name, FindEmulatedKernel(#name)->args_bytes,                               \
   [](const void* args, const unsigned grid[3], const unsigned block[3], size_t shared_bytes, \
      uint64_t order, bool early_copies, const std::function<void()>& complete_earlier) {     \
     Run(#name, args, grid, block, shared_bytes, order, early_copies, complete_earlier);      \
   }},
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL
  };
  EmulatedImage image = {{}, std::size(kernels), kernels};
  std::memcpy(image.magic, kEmulatedImageMagic, sizeof(image.magic));
  return image;
}

}  // namespace
}  // namespace larq_engine::testing

const char* larq_engine_cuda_version(void) { return LARQ_ENGINE_VERSION; }

const LarqEngineCudaImage* larq_engine_cuda_image(const char* version) {
  static const larq_engine::testing::EmulatedImage emulated = larq_engine::testing::MakeImage();
  static const LarqEngineCudaImage image = {&emulated, sizeof(emulated)};
  return std::strcmp(version, LARQ_ENGINE_VERSION) == 0 ? &image : nullptr;
}
