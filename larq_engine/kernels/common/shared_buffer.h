// Packed weights that all interpreters of one model in a process share. Each further interpreter
// saves their memory, and cores that share a cache find weights there that other cores have read.
#ifndef LARQ_ENGINE_KERNELS_COMMON_SHARED_BUFFER_H_
#define LARQ_ENGINE_KERNELS_COMMON_SHARED_BUFFER_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "larq_engine/kernels/common/aligned_buffer.h"

namespace larq_engine {

struct SharedBytes;

// Keeps `bytes`, all of which must have been written, or frees them and returns equal bytes that
// somebody already keeps.
SharedBytes* ShareBytes(AlignedBuffer<std::byte> bytes);
void ReleaseBytes(SharedBytes* shared);
const std::byte* DataOf(const SharedBytes& shared);

template <typename T>
class SharedBuffer {
 public:
  SharedBuffer() = default;
  explicit SharedBuffer(AlignedBuffer<T> written)
      : bytes_(ShareBytes(std::move(written).AsBytes())),
        data_(reinterpret_cast<const T*>(DataOf(*bytes_))) {}

  const T* data() const { return data_; }

 private:
  struct Release {
    void operator()(SharedBytes* shared) const { ReleaseBytes(shared); }
  };
  std::unique_ptr<SharedBytes, Release> bytes_;
  const T* data_ = nullptr;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_SHARED_BUFFER_H_
