// What the instructions of wgmma.h do, by NVIDIA's "PTX ISA": pure functions. The emulated GPU
// follows them.
#ifndef LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_
#define LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_

#include <cstdint>
#include <cstring>

namespace larq_engine::cuda {

// How the 16-byte parts of a matrix' rows are mixed, as descriptors have it.
enum class MatrixSwizzle : uint32_t { kNone = 0, k128Bytes = 1, k64Bytes = 2, k32Bytes = 3 };

// Where byte 0..31 of a row is that a descriptor names; its part of 16 bytes lies together.
//  - Without a swizzle: 8 rows of 16 bytes one behind the other, `stride` bytes from 8 rows to the
//    next 8, `leading` bytes from a row's first 16 bytes to the second.
//  - With one: 8 rows of 128, 64 or 32 bytes, `stride` bytes to the next 8. Bits 4.. of an address
//    are xored with its bits 7..: 3, 2 or 1 of them.
inline uint32_t MatrixByte(uint64_t descriptor, uint32_t row, uint32_t byte) {
  const auto bytes = [&](int bit) {
    return static_cast<uint32_t>(descriptor >> bit & 0x3fff) << 4;
  };
  const uint32_t start = bytes(0);
  const uint32_t leading = bytes(16);
  const uint32_t stride = bytes(32);
  const auto swizzle = static_cast<MatrixSwizzle>(descriptor >> 62);
  if (swizzle == MatrixSwizzle::kNone) {
    return start + row / 8 * stride + row % 8 * 16 + byte / 16 * leading + byte % 16;
  }
  const uint32_t pitch = 256u >> static_cast<uint32_t>(swizzle);
  const uint32_t at = start + row / 8 * stride + row % 8 * pitch + byte;
  return at ^ (at >> 7 & (pitch / 16 - 1)) << 4;
}

// Of which element of the product the registers of a warpgroup's thread are.
struct WgmmaElement {
  uint32_t row;
  uint32_t column;
};
inline WgmmaElement WgmmaElementRule(uint32_t thread, uint32_t i) {
  const uint32_t lane = thread % 32;
  return {thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

// What one product adds to a register; part(address) points to 16 bytes of shared memory.
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
