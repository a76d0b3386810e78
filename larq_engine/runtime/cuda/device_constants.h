// Constants of operators, which kernels read. They are copied to the device once.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class DeviceConstants {
 public:
  explicit DeviceConstants(DeviceMemory& memory) : memory_(memory) {}

  // Returns the address, on the device, of the `count` values that `make` returns. `slot` numbers
  // the arrays of an operator. `make` is called only the first time that an array of this operator,
  // slot and count is asked for.
  template <typename T, typename Make>
  const T* Get(size_t op, int slot, size_t count, const Make& make) {
    std::unique_ptr<DeviceBuffer>& buffer = buffers_[{op, slot, count}];
    if (buffer == nullptr) {
      const std::vector<T> values = make();
      auto made = std::make_unique<DeviceBuffer>(memory_, MemoryUse::kWeights, count * sizeof(T));
      memory_.CopyIn(reinterpret_cast<const std::byte*>(values.data()), made->bytes(),
                     made->data());
      buffer = std::move(made);
    }
    return reinterpret_cast<const T*>(buffer->data());
  }

 private:
  DeviceMemory& memory_;
  std::map<std::tuple<size_t, int, size_t>, std::unique_ptr<DeviceBuffer>> buffers_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_DEVICE_CONSTANTS_H_
