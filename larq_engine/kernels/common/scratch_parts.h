// Cuts the memory of a worker into aligned parts.
#ifndef LARQ_ENGINE_KERNELS_COMMON_SCRATCH_PARTS_H_
#define LARQ_ENGINE_KERNELS_COMMON_SCRATCH_PARTS_H_

#include <cstddef>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {

class ScratchParts {
 public:
  // `memory` is aligned to kBufferAlignment. nullptr only computes how many bytes the parts take.
  explicit ScratchParts(std::byte* memory) : memory_(memory) {}

  template <typename T>
  T* Take(size_t count, size_t length) {
    std::byte* part = memory_ == nullptr ? nullptr : memory_ + bytes_;
    const size_t part_bytes = MemoryProduct(count, MemoryProduct(length, sizeof(T)));
    bytes_ = MemorySum(bytes_, RoundUp(part_bytes, kBufferAlignment));
    return reinterpret_cast<T*>(part);
  }

  size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  size_t bytes_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_SCRATCH_PARTS_H_
