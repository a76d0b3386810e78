// Expands planes to bytes by masks of 64 lanes, which are the bits as they lie in memory. The
// function is internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_BYTES_X86_EXPAND_AVX512BW_H_
#define LARQ_ENGINE_KERNELS_BYTES_X86_EXPAND_AVX512BW_H_

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/bytes/byte_product.h"
#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

inline void ExpandAvx512bw(const ExpandArgs& args) {
  size_t w = 0;
  for (; w + 2 <= args.words; w += 2) {
    __m512i bytes = _mm512_setzero_si512();
    __m512i bit = _mm512_set1_epi8(1);
    const uint32_t* run = args.run + w;
    for (size_t p = 0; p < args.planes; ++p, run += args.plane_words) {
      uint64_t mask;
      std::memcpy(&mask, run, sizeof(mask));
      bytes = _mm512_mask_add_epi8(bytes, _cvtu64_mask64(mask), bytes, bit);
      bit = _mm512_add_epi8(bit, bit);
    }
    _mm512_storeu_si512(args.bytes + w * kWordBits, bytes);
  }
  if (w == args.words) return;
  __m256i bytes = _mm256_setzero_si256();
  __m256i bit = _mm256_set1_epi8(1);
  const uint32_t* run = args.run + w;
  for (size_t p = 0; p < args.planes; ++p, run += args.plane_words) {
    bytes = _mm256_mask_add_epi8(bytes, _cvtu32_mask32(*run), bytes, bit);
    bit = _mm256_add_epi8(bit, bit);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.bytes + w * kWordBits), bytes);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_X86_EXPAND_AVX512BW_H_
