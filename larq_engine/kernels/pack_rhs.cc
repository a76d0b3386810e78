#include "larq_engine/kernels/pack_rhs.h"

#include <algorithm>
#include <cassert>

#include "larq_engine/kernels/memory_size.h"

namespace larq_engine {

size_t PackedRhsWords(const BgemmRow& row, size_t n, size_t k_words) {
  const size_t columns = RoundUp(n, static_cast<size_t>(row.nr));
  return MemorySum(MemoryProduct(columns, RoundUp(k_words, row.kr_words())), kRhsSlackWords);
}

void PackRhs(const BgemmRow& row, const uint32_t* filters, size_t n, size_t k_words,
             uint32_t* packed) {
  const size_t nr = static_cast<size_t>(row.nr);
  const size_t kr = row.kr_words();
  for (size_t block = 0; block < n; block += nr) {
    for (size_t step = 0; step < k_words; step += kr) {
      for (size_t j = block; j < block + nr; ++j) {
        for (size_t k = step; k < step + kr; ++k) {
          *packed++ = j < n && k < k_words ? filters[j * k_words + k] : 0;
        }
      }
    }
  }
  std::fill_n(packed, kRhsSlackWords, 0);
}

const uint32_t* RhsPart(const BgemmRow& row, const uint32_t* packed, size_t first, size_t k_words) {
  assert(first % kRhsPartColumns == 0);
  return packed + first * RoundUp(k_words, row.kr_words());
}

}  // namespace larq_engine
