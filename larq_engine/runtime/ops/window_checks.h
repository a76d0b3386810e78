// Checks the windows that a file gives, and makes their outputs' shapes.
#ifndef LARQ_ENGINE_RUNTIME_OPS_WINDOW_CHECKS_H_
#define LARQ_ENGINE_RUNTIME_OPS_WINDOW_CHECKS_H_

#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

struct OpInfo;

// Returns the window of a convolution of the host, whose options say all but the size of its
// filter.
Window2d ConvWindow(const OpInfo& op);

// Returns the output's shape for images of shape `in`. Throws OpError.
std::vector<int> OutputDims(const Window2d& window, const std::vector<int>& in, int channels);

// IsLegal tells whether filter and strides are 1 or more. ReachesLittle tells whether they reach
// so little that 32 bits hold the places of taps.
bool IsLegal(const Window2d& window);
bool ReachesLittle(const Window2d& window);

// The farthest that ReachesLittle allows, in pixels.
inline constexpr int64_t kLittleReach = int64_t{1} << 24;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_WINDOW_CHECKS_H_
