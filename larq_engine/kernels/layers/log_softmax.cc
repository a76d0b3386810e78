#include "larq_engine/kernels/layers/log_softmax.h"

#include <algorithm>
#include <cmath>

namespace larq_engine {

// The greatest value is taken off first, so that no exponential overflows.
void LogSoftmax(const float* in, size_t rows, size_t channels, float* out) {
  for (size_t row = 0; row < rows; ++row, in += channels, out += channels) {
    const float most = *std::max_element(in, in + channels);
    float sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += std::exp(in[c] - most);
    const float log_sum = std::log(sum);
    for (size_t c = 0; c < channels; ++c) out[c] = in[c] - most - log_sum;
  }
}

}  // namespace larq_engine
