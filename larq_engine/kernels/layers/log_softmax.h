// The logarithm of a softmax: of each value of a row, less that of the sum of their exponentials.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_LOG_SOFTMAX_H_
#define LARQ_ENGINE_KERNELS_LAYERS_LOG_SOFTMAX_H_

#include <cstddef>

namespace larq_engine {

// `out` may be `in`.
void LogSoftmax(const float* in, size_t rows, size_t channels, float* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_LOG_SOFTMAX_H_
