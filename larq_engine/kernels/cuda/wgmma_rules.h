// What the instructions of wgmma.h do, by NVIDIA's "PTX ISA": pure functions. The emulated GPU
// follows them.
#ifndef LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_
#define LARQ_ENGINE_KERNELS_CUDA_WGMMA_RULES_H_

#include <cstdint>
#include <cstring>

namespace larq_engine::cuda {

// As descriptors say that matrices are mixed as below. There are other ways, which no kernel uses.
inline constexpr uint64_t kSwizzle128Bytes = 1;

// Where byte 0..31 of a row is that a descriptor names; its part of 16 bytes lies together. 8 rows
// lie one behind the other, 128 bytes each, and the descriptor's stride is from them to the next 8.
// Bits 4 to 6 of an address are xored with its bits 7 to 9.
inline uint32_t MatrixByte(uint64_t descriptor, uint32_t row, uint32_t byte) {
  const auto bytes = [&](int bit) {
    return static_cast<uint32_t>(descriptor >> bit & 0x3fff) << 4;
  };
  const uint32_t at = bytes(0) + row / 8 * bytes(32) + row % 8 * 128 + byte;
  return at ^ (at >> 7 & 7) << 4;
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
