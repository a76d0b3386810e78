// Residual sums that convolutions compute. A convolution of bits adds the shortcut to its floats as
// it writes them, after the product with a gate and the PRELU that may come first. So these values
// go to the cache once, and not after each operator.
#ifndef LARQ_ENGINE_RUNTIME_CPU_RESIDUAL_SUMS_H_
#define LARQ_ENGINE_RUNTIME_CPU_RESIDUAL_SUMS_H_

#include <vector>

#include "larq_engine/runtime/cpu/step_list.h"

namespace larq_engine {

// Replaces each such sum by the last convolution whose floats lead to nothing but the sum. The
// convolution moves to the place of the sum, where all that it reads is made. It reads bits, the
// gate if there is one, and the shortcut. It absorbs, in this order and as far as they exist, the
// product with the gate, the PRELU, and the sum.
std::vector<ListedStep> WithSums(const Program& program, const std::vector<bool>& is_shared,
                                 std::vector<ListedStep> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_RESIDUAL_SUMS_H_
