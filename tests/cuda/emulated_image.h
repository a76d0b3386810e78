// Kernels as the fake driver takes them: functions that compute a whole launch on the CPU, in the
// place of a fat binary.
#ifndef LARQ_ENGINE_TESTS_CUDA_EMULATED_IMAGE_H_
#define LARQ_ENGINE_TESTS_CUDA_EMULATED_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace larq_engine::testing {

struct EmulatedImageKernel {
  const char* name;
  size_t args_bytes;  // of its one parameter, which is copied when it is launched
  // `order` chooses in which order its threads run; early copies arrive before they are waited for.
  // A launch that begins early completes those before with `complete_earlier` when it waits for
  // them; for others that is empty.
  void (*run)(const void* args, const unsigned grid[3], const unsigned block[3],
              size_t shared_bytes, uint64_t order, bool early_copies,
              const std::function<void()>& complete_earlier);
};

struct EmulatedImage {
  char magic[8];  // one of those below, without the zero at its end
  size_t count;
  const EmulatedImageKernel* kernels;
};

inline constexpr char kEmulatedImageMagic[] = "LEEMUGPU";
// Of an image that has nothing for the device.
inline constexpr char kOtherChipsMagic[] = "LEEMUOLD";

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_EMULATED_IMAGE_H_
