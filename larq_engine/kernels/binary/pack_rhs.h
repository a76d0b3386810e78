// Brings filters into the order in which one micro-kernel reads them (bgemm.h, clause RightSide).
#ifndef LARQ_ENGINE_KERNELS_BINARY_PACK_RHS_H_
#define LARQ_ENGINE_KERNELS_BINARY_PACK_RHS_H_

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/shared_buffer.h"

namespace larq_engine {

// Returns the words of the packed right side for each word of a filter.
size_t PackedWordsPerWord(const BgemmRow& row);

// Returns the words that PackRhs writes for n filters of k_words words; throws std::bad_alloc if
// memory cannot be that large.
size_t PackedRhsWords(const BgemmRow& row, size_t n, size_t k_words);

// `filters` is [n][k_words]. Columns and depth are filled up with zero words, and kRhsSlackWords of
// zeros follow.
void PackRhs(const BgemmRow& row, const uint32_t* filters, size_t n, size_t k_words,
             uint32_t* packed);

// The right sides of the groups of a layer.
class PackedFilters {
 public:
  // filters is [groups][n][k_words]. The object keeps no pointer to it.
  PackedFilters(const BgemmRow& row, const uint32_t* filters, size_t groups, size_t n,
                size_t k_words);

  // Returns a group's columns from `first` on, a multiple of kRhsPartColumns.
  const uint32_t* Columns(size_t group, size_t first) const {
    assert(first % kRhsPartColumns == 0);
    return packed_.data() + group * group_words_ + first * column_words_;
  }

 private:
  size_t column_words_;
  size_t group_words_;  // rounded up so that every group is aligned
  SharedBuffer<uint32_t> packed_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_PACK_RHS_H_
