// What kernels read of operators, in the device's memory: copied there once.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class DeviceConstants {
 public:
  explicit DeviceConstants(DeviceMemory& memory) : memory_(memory) {}
  ~DeviceConstants() {
    for (const auto& [key, block] : blocks_) memory_.Free(block.data);
  }
  DeviceConstants(const DeviceConstants&) = delete;
  DeviceConstants& operator=(const DeviceConstants&) = delete;

  // The `count` values that `make` returns for an operator, one of several such of it. It is called
  // the first time, and where the count is another one than before.
  template <typename T, typename Make>
  const T* Get(size_t op, int slot, size_t count, const Make& make) {
    Block& block = blocks_[{op, slot}];
    if (block.data == nullptr || block.bytes != count * sizeof(T)) {
      const std::vector<T> values = make();
      Upload(reinterpret_cast<const std::byte*>(values.data()), count * sizeof(T), block);
    }
    return reinterpret_cast<const T*>(block.data);
  }

  size_t bytes() const {
    size_t sum = 0;
    for (const auto& [key, block] : blocks_) sum += block.bytes;
    return sum;
  }

 private:
  struct Block {
    std::byte* data = nullptr;
    size_t bytes = 0;
  };

  void Upload(const std::byte* values, size_t bytes, Block& block) {
    // Launches that read the old ones may be queued.
    if (block.data != nullptr) memory_.Wait();
    memory_.Free(std::exchange(block.data, nullptr));
    block.data = memory_.Allocate(bytes);
    block.bytes = bytes;
    memory_.CopyIn(values, bytes, block.data);
  }

  DeviceMemory& memory_;
  std::map<std::pair<size_t, int>, Block> blocks_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_
