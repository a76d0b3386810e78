#include "larq_engine/kernels/pack_rhs.h"

#include <algorithm>

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

PackedFilters::PackedFilters(const BgemmRow& row, const uint32_t* filters, size_t groups, size_t n,
                             size_t k_words)
    : column_words_(RoundUp(k_words, row.kr_words())),
      group_words_(RoundUp(PackedRhsWords(row, n, k_words), kBufferAlignment / sizeof(uint32_t))),
      packed_(MemoryProduct(groups, group_words_)) {
  for (size_t g = 0; g < groups; ++g) {
    PackRhs(row, filters + g * n * k_words, n, k_words, packed_.data() + g * group_words_);
  }
}

}  // namespace larq_engine
