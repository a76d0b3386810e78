#include "larq_engine/kernels/common/bmatmul_spec.h"

#include <bit>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {

int32_t SumOfSigns(const uint32_t* row, int64_t depth) {
  const size_t words = WordsFor(static_cast<size_t>(depth));
  int32_t negative = 0;
  for (size_t i = 0; i < words; ++i) negative += std::popcount(row[i]);
  return static_cast<int32_t>(depth) - 2 * negative;
}

}  // namespace larq_engine
