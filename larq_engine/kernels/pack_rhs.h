// Brings filters into the order in which one micro-kernel reads them (bgemm.h, clause RightSide).
#ifndef LARQ_ENGINE_KERNELS_PACK_RHS_H_
#define LARQ_ENGINE_KERNELS_PACK_RHS_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/kernel_table.h"

namespace larq_engine {

// Words that PackRhs writes for n filters of k_words words; std::bad_alloc if there cannot be as
// many.
size_t PackedRhsWords(const BgemmRow& row, size_t n, size_t k_words);

// `filters` is [n][k_words]; columns and depth are filled up with zero words, which also follow.
void PackRhs(const BgemmRow& row, const uint32_t* filters, size_t n, size_t k_words,
             uint32_t* packed);

// Where in what PackRhs packed the columns from `first` on begin, a multiple of kRhsPartColumns.
const uint32_t* RhsPart(const BgemmRow& row, const uint32_t* packed, size_t first, size_t k_words);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PACK_RHS_H_
