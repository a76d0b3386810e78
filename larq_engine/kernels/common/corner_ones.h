// Counts the ones in rectangles of a filter's taps, weighted as the planes of the filter and of the
// image are. Padding pixels count as +1 in the product. If they stand for another value, the ones
// that the product found in taps outside the image are taken out again.
#ifndef LARQ_ENGINE_KERNELS_COMMON_CORNER_ONES_H_
#define LARQ_ENGINE_KERNELS_COMMON_CORNER_ONES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/bconv2d_spec.h"

namespace larq_engine {

size_t CornerCount(const Bconv2dSpec& spec);

// Returns [filter_height + 1][filter_width + 1][out_channels]: the ones in the taps above and to
// the left of a corner, so that the ones of any rectangle take four look-ups. `filter` is laid out
// as for Bconv2d.
std::vector<int32_t> CornerOnes(const Bconv2dSpec& spec, const uint32_t* filter);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_CORNER_ONES_H_
