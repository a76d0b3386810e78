// The loop that reads memory and does nothing else, for the file of each vector length. Everything
// here is internal to the file that includes it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_READ_LOOP_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_READ_LOOP_H_

#include <cstddef>

namespace larq_engine::benchmarks {
namespace {

// `from` is aligned to a vector; what does not fill eight of them is left out.
template <typename Vector>
inline void ReadVectors(const std::byte* from, size_t bytes) {
  constexpr size_t kVectors = 8;
  const auto* at = reinterpret_cast<const Vector*>(from);
  const Vector* const end = at + bytes / sizeof(Vector) / kVectors * kVectors;
  for (; at != end; at += kVectors) {
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) {
      const Vector read = at[v];
      asm volatile("" : : "x"(read));  // or the load would be left out
    }
  }
}

}  // namespace
}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_READ_LOOP_H_
