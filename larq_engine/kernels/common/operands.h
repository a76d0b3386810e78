// Operands of the products of all families: the runs of a tile's left side, and the columns at
// which a packed right side may be cut. This header is part of their contracts. All functions are
// static: a file compiled with ISA flags must not share code with one that is not.
#ifndef LARQ_ENGINE_KERNELS_COMMON_OPERANDS_H_
#define LARQ_ENGINE_KERNELS_COMMON_OPERANDS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

inline constexpr size_t kRhsPartColumns = 64;

// Returns the run at an offset that LhsOffset has computed. Addresses are computed as integers,
// because runs may lie in different blocks of memory, between which pointer arithmetic is
// undefined.
template <typename Word>
static inline const Word* LhsRun(const Word* lhs_base, ptrdiff_t run) {
  return reinterpret_cast<const Word*>(reinterpret_cast<uintptr_t>(lhs_base) +
                                       static_cast<uintptr_t>(run) * sizeof(Word));
}

// Returns the offset of a run from `lhs_base`, in words.
static inline ptrdiff_t LhsOffset(const uint32_t* lhs_base, const uint32_t* run) {
  return static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(run) -
                                reinterpret_cast<uintptr_t>(lhs_base)) /
         static_cast<ptrdiff_t>(sizeof(uint32_t));
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_OPERANDS_H_
