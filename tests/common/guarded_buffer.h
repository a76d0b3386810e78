// Memory that ends (or starts) at an inaccessible page, so that an access one element too far
// crashes.
#ifndef LARQ_ENGINE_TESTS_COMMON_GUARDED_BUFFER_H_
#define LARQ_ENGINE_TESTS_COMMON_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstring>
#include <span>

#include "tests/common/guarded_pages.h"

namespace larq_engine::testing {

enum class Guard { kAfter, kBefore };

template <typename T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t size, Guard guard = Guard::kAfter)
      : size_(size), pages_(size * sizeof(T)) {
    std::byte* begin = guard == Guard::kAfter ? pages_.end() - size * sizeof(T) : pages_.begin();
    data_ = reinterpret_cast<T*>(begin);
  }
  explicit GuardedBuffer(std::span<const T> values, Guard guard = Guard::kAfter)
      : GuardedBuffer(values.size(), guard) {
    if (!values.empty()) std::memcpy(data_, values.data(), values.size_bytes());
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  GuardedPages pages_;
  T* data_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_GUARDED_BUFFER_H_
