// Memory for packed words and scratch, aligned to 64 bytes (a cache line, the widest vector). It is
// not cleared, because memory as large as a corrupted shape asks for must not be touched before it
// is used.
#ifndef LARQ_ENGINE_KERNELS_COMMON_ALIGNED_BUFFER_H_
#define LARQ_ENGINE_KERNELS_COMMON_ALIGNED_BUFFER_H_

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {

inline constexpr size_t kBufferAlignment = 64;

template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size)
      : data_(static_cast<T*>(
            ::operator new (MemoryProduct(size, sizeof(T)), std::align_val_t{kBufferAlignment}))),
        size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }

  // Returns the same memory as bytes, and leaves this buffer empty.
  AlignedBuffer<std::byte> AsBytes() && {
    AlignedBuffer<std::byte> bytes;
    bytes.data_.reset(reinterpret_cast<std::byte*>(data_.release()));
    bytes.size_ = std::exchange(size_, 0) * sizeof(T);
    return bytes;
  }

 private:
  template <typename Other>
  friend class AlignedBuffer;

  struct Free {
    void operator()(T* data) const { ::operator delete (data, std::align_val_t{kBufferAlignment}); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_ALIGNED_BUFFER_H_
