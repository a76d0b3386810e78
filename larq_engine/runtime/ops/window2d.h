// A window that slides over images of pixels.
#ifndef LARQ_ENGINE_RUNTIME_OPS_WINDOW2D_H_
#define LARQ_ENGINE_RUNTIME_OPS_WINDOW2D_H_

#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

struct Window2d {
  int64_t filter_height;
  int64_t filter_width;
  int64_t stride_height;
  int64_t stride_width;
  bool same;

  WindowAxis Height(int64_t in_height) const {
    return MakeWindowAxis(in_height, filter_height, stride_height, 1, {.same = same});
  }
  WindowAxis Width(int64_t in_width) const {
    return MakeWindowAxis(in_width, filter_width, stride_width, 1, {.same = same});
  }

  // Returns the output's shape for images of shape `in`. Throws OpError.
  std::vector<int> OutputDims(const std::vector<int>& in, int channels) const;

  // IsLegal tells whether filter and strides are 1 or more. ReachesLittle tells whether they reach
  // so little that 32 bits hold the places of taps.
  bool IsLegal() const;
  bool ReachesLittle() const;
};

// The farthest that ReachesLittle allows, in pixels.
inline constexpr int64_t kLittleReach = int64_t{1} << 24;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_WINDOW2D_H_
