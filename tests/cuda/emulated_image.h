// Images of kernels in the form that the fake driver loads: functions that compute a whole launch
// on the CPU, in the place of a fat binary.
#ifndef LARQ_ENGINE_TESTS_CUDA_EMULATED_IMAGE_H_
#define LARQ_ENGINE_TESTS_CUDA_EMULATED_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace larq_engine::testing {

struct EmulatedImageKernel {
  const char* name;
  size_t args_bytes;  // of its only parameter, which a launch copies
  // `order` chooses the order in which the threads run. With `early_copies`, copies arrive before
  // they are waited for. A launch that begins early calls `complete_earlier` when it waits for the
  // launches before it; other launches have an empty one.
  void (*run)(const void* args, const unsigned grid[3], const unsigned block[3],
              size_t shared_bytes, uint64_t order, bool early_copies,
              const std::function<void()>& complete_earlier);
};

struct EmulatedImage {
  char magic[8];  // kEmulatedImageMagic or kOtherChipsMagic, without the zero at the end
  size_t count;
  const EmulatedImageKernel* kernels;
};

inline constexpr char kEmulatedImageMagic[] = "LEEMUGPU";
// Marks an image that has no code for the device.
inline constexpr char kOtherChipsMagic[] = "LEEMUOLD";

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_EMULATED_IMAGE_H_
