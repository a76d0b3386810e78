// Computes sizes of memory that a file may make as large as it likes. If no memory can be that
// large, the functions throw std::bad_alloc, as an allocation would. With 32-bit addresses a file
// of a few kB can ask for such a size, and a size that wrapped around could be allocated.
#ifndef LARQ_ENGINE_KERNELS_COMMON_MEMORY_SIZE_H_
#define LARQ_ENGINE_KERNELS_COMMON_MEMORY_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <new>

namespace larq_engine {

// No object is larger. This is half of what size_t holds, so that a size may be rounded up.
inline constexpr size_t kMaxMemory = PTRDIFF_MAX;

inline size_t MemorySum(size_t a, size_t b) {
  size_t sum;
  if (__builtin_add_overflow(a, b, &sum) || sum > kMaxMemory) throw std::bad_alloc();
  return sum;
}

inline size_t MemoryProduct(size_t a, size_t b) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaxMemory) throw std::bad_alloc();
  return product;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_MEMORY_SIZE_H_
