// Residual sums that convolutions compute: a convolution of bits adds the shortcut to its floats as
// it writes them, after the product with a gate and the PRELU that may come first. So these values
// go to the cache once, and not after each operator.
#ifndef LARQ_ENGINE_RUNTIME_CPU_RESIDUAL_SUMS_H_
#define LARQ_ENGINE_RUNTIME_CPU_RESIDUAL_SUMS_H_

#include <vector>

#include "larq_engine/runtime/cpu/step_list.h"

namespace larq_engine {

// Of the convolutions whose floats lead to nothing but a sum, the last one comes where the sum was:
// all that it reads is there by then. It reads bits, perhaps a gate, and what is added; it absorbs
// the product with the gate, the PRELU, the sum, as far as there are such, in this order.
std::vector<ListedStep> WithSums(const Program& program, const std::vector<bool>& is_shared,
                                 std::vector<ListedStep> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_RESIDUAL_SUMS_H_
