// Calls a function for the pairs of values of two operands, in loops that a compiler vectorises.
// The function is internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_COMMON_FOR_PAIRS_H_
#define LARQ_ENGINE_KERNELS_COMMON_FOR_PAIRS_H_

#include <cstddef>

#include "larq_engine/kernels/common/value_functions.h"

namespace larq_engine {
namespace {

// Makes each value of `out` as function(a, b).
template <typename T, typename Out, typename Function>
inline void ForPairs(const LineOperand& a, const LineOperand& b, size_t count,
                     const Function& function, Out* out) {
  const auto* x = static_cast<const T*>(a.values);
  const auto* y = static_cast<const T*>(b.values);
  if (a.is_one && b.is_one) {
    const auto made = static_cast<Out>(function(*x, *y));
    for (size_t i = 0; i < count; ++i) out[i] = made;
  } else if (a.is_one) {
    const T one = *x;
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(function(one, y[i]));
  } else if (b.is_one) {
    const T one = *y;
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(function(x[i], one));
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(function(x[i], y[i]));
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_FOR_PAIRS_H_
