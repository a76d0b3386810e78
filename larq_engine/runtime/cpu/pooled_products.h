// Products that max pooling computes. If a constant multiplies each channel and only a pooling
// reads the result, the pooling multiplies the values that it compares. So an image goes to memory
// once, not twice.
#ifndef LARQ_ENGINE_RUNTIME_CPU_POOLED_PRODUCTS_H_
#define LARQ_ENGINE_RUNTIME_CPU_POOLED_PRODUCTS_H_

#include <vector>

#include "larq_engine/runtime/cpu/step_list.h"

namespace larq_engine {

// Replaces each such product and pooling by a pooling that reads the product's input and absorbs
// the product.
std::vector<ListedStep> WithPooledProducts(const Program& program,
                                           const std::vector<bool>& is_shared,
                                           std::vector<ListedStep> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_POOLED_PRODUCTS_H_
