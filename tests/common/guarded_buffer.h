// Memory that ends (or starts) at a page nobody may touch, so that one element too far is a crash.
#ifndef LARQ_ENGINE_TESTS_COMMON_GUARDED_BUFFER_H_
#define LARQ_ENGINE_TESTS_COMMON_GUARDED_BUFFER_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

namespace larq_engine::testing {

enum class Guard { kAfter, kBefore };

template <typename T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t size, Guard guard = Guard::kAfter) : size_(size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t data_bytes = (size * sizeof(T) + page - 1) / page * page;
    mapped_bytes_ = data_bytes + 2 * page;
    void* mapped = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(mapped);
    if (data_bytes > 0 && mprotect(mapped_ + page, data_bytes, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    std::byte* begin = mapped_ + page;
    if (guard == Guard::kAfter) begin += data_bytes - size * sizeof(T);
    data_ = reinterpret_cast<T*>(begin);
  }
  explicit GuardedBuffer(std::span<const T> values, Guard guard = Guard::kAfter)
      : GuardedBuffer(values.size(), guard) {
    if (!values.empty()) std::memcpy(data_, values.data(), values.size_bytes());
  }
  ~GuardedBuffer() { munmap(mapped_, mapped_bytes_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  size_t mapped_bytes_;
  std::byte* mapped_;
  T* data_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_GUARDED_BUFFER_H_
