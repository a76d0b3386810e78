// The rules of the instructions of wgmma.h, by NVIDIA's "PTX ISA": pure functions, which the
// emulated GPU follows.
#ifndef LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_
#define LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_

#include <cstdint>
#include <cstring>

namespace larq_engine::cuda {

// The value in a descriptor for the 128-byte swizzle. No kernel uses the other ones.
inline constexpr uint64_t kSwizzle128Bytes = 1;

// Returns the address of byte 0..31 of a row of the matrix that a descriptor names. The 16-byte
// parts of a row stay contiguous. Groups of 8 rows have 128 bytes for each row, and the
// descriptor's stride leads from one group to the next. Bits 4 to 6 of an address are xored with
// its bits 7 to 9.
inline uint32_t MatrixByte(uint64_t descriptor, uint32_t row, uint32_t byte) {
  const auto bytes = [&](int bit) {
    return static_cast<uint32_t>(descriptor >> bit & 0x3fff) << 4;
  };
  const uint32_t at = bytes(0) + row / 8 * bytes(32) + row % 8 * 128 + byte;
  return at ^ (at >> 7 & 7) << 4;
}

// The element of the product that a register of a warpgroup's thread holds.
struct WgmmaElement {
  uint32_t row;
  uint32_t column;
};
inline WgmmaElement WgmmaElementRule(uint32_t thread, uint32_t i) {
  const uint32_t lane = thread % 32;
  return {thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

// Returns what one product adds to a register. part(address) points to 16 bytes of shared memory.
template <class Part>
int32_t WgmmaAndRule(const Part& part, uint64_t a, uint64_t b, uint32_t thread, uint32_t i) {
  const WgmmaElement at = WgmmaElementRule(thread, i);
  int32_t sum = 0;
  for (uint32_t byte = 0; byte < 32; byte += 16) {
    uint64_t x[2];
    uint64_t y[2];
    std::memcpy(x, part(MatrixByte(a, at.row, byte)), 16);
    std::memcpy(y, part(MatrixByte(b, at.column, byte)), 16);
    sum += __builtin_popcountll(x[0] & y[0]) + __builtin_popcountll(x[1] & y[1]);
  }
  return sum;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_
