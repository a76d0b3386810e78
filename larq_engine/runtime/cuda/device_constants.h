// What kernels read of operators, in the device's memory: copied there once.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class DeviceConstants {
 public:
  explicit DeviceConstants(DeviceMemory& memory) : memory_(memory) {}
  ~DeviceConstants() {
    for (const auto& [key, block] : blocks_) memory_.Free(block);
  }
  DeviceConstants(const DeviceConstants&) = delete;
  DeviceConstants& operator=(const DeviceConstants&) = delete;

  // The `count` values that `make` returns for an operator, one of several such of it; it is called
  // the first time that so many are asked for.
  template <typename T, typename Make>
  const T* Get(size_t op, int slot, size_t count, const Make& make) {
    std::byte*& block = blocks_[{op, slot, count}];
    if (block == nullptr) {
      const std::vector<T> values = make();
      std::byte* copy = memory_.Allocate(count * sizeof(T));
      try {
        memory_.CopyIn(reinterpret_cast<const std::byte*>(values.data()), count * sizeof(T), copy);
      } catch (...) {
        memory_.Free(copy);
        throw;
      }
      block = copy;
    }
    return reinterpret_cast<const T*>(block);
  }

 private:
  DeviceMemory& memory_;
  std::map<std::tuple<size_t, int, size_t>, std::byte*> blocks_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_
