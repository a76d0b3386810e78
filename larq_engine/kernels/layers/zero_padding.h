// Corrects products for pixels of zero around the image. The product counts a tap outside against
// +1 (0 bits), so it counts the filter's ones there. These are taken out again, and the pixel's
// depth shrinks.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_ZERO_PADDING_H_
#define LARQ_ENGINE_KERNELS_LAYERS_ZERO_PADDING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/output_grid.h"

namespace larq_engine {

class ZeroPadding {
 public:
  // `filter` is laid out as for Bconv2d.
  ZeroPadding(const Bconv2dSpec& spec, const uint32_t* filter);

  // Corrects acc[m][count], of pixels from `position` on and channels from `first` on, and sets
  // depth[m] to the most that the remaining products can add to.
  void Correct(const OutputGrid& grid, OutputGrid::Position position, size_t m, size_t first,
               size_t count, int32_t* acc, int32_t* depth) const;

 private:
  int64_t tap_dot_;            // the most that a tap adds to a dot product
  size_t channels_;            // channels of the output
  std::vector<int32_t> ones_;  // see corner_ones.h
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_ZERO_PADDING_H_
