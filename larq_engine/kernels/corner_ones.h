// The ones in rectangles of a filter's taps, counted as often as their planes and those of the
// image do: where pixels of padding are none of +1, those that the taps outside have found are
// taken out again.
#ifndef LARQ_ENGINE_KERNELS_CORNER_ONES_H_
#define LARQ_ENGINE_KERNELS_CORNER_ONES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/bconv2d_spec.h"

namespace larq_engine {

size_t CornerCount(const Bconv2dSpec& spec);

// [filter_height + 1][filter_width + 1][out_channels]: the ones in the taps above and left of a
// corner, so that those of any rectangle are four look-ups. `filter` as for Bconv2d.
std::vector<int32_t> CornerOnes(const Bconv2dSpec& spec, const uint32_t* filter);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_CORNER_ONES_H_
