#include "larq_engine/kernels/layers/zero_padding.h"

#include <algorithm>

#include "larq_engine/kernels/common/corner_ones.h"

namespace larq_engine {

ZeroPadding::ZeroPadding(const Bconv2dSpec& spec, const uint32_t* filter)
    : tap_dot_(spec.group_in_channels() * spec.max_product()),
      channels_(static_cast<size_t>(spec.out_channels)),
      ones_(CornerOnes(spec, filter)) {}

void ZeroPadding::Correct(const OutputGrid& grid, OutputGrid::Position position, size_t m,
                          size_t first, size_t count, int32_t* acc, int32_t* depth) const {
  const WindowAxis& height = grid.height();
  const WindowAxis& width = grid.width();
  const auto corner = [&](int64_t y, int64_t x) {
    return ones_.data() + static_cast<size_t>(y * (width.taps + 1) + x) * channels_ + first;
  };
  const auto inner_depth = static_cast<int32_t>(height.taps * width.taps * tap_dot_);
  std::fill_n(depth, m, inner_depth);
  // This holds for most tiles. They must not pay for taps outside, which pixels of few products
  // would feel.
  if (grid.IsInnerLine(position) && grid.AreInnerInLine(position, m)) return;
  const int32_t* total = corner(height.taps, width.taps);
  for (size_t i = 0; i < m; ++i, acc += count, grid.Advance(position, 1)) {
    if (grid.IsInnerLine(position) && grid.AreInnerInLine(position, 1)) continue;
    const WindowAxis::Taps ys = height.InsideTaps(position.y);
    const WindowAxis::Taps xs = width.InsideTaps(position.x);
    depth[i] = static_cast<int32_t>((ys.last - ys.first) * (xs.last - xs.first) * tap_dot_);
    const int32_t* bottom_right = corner(ys.last, xs.last);
    const int32_t* top_right = corner(ys.first, xs.last);
    const int32_t* bottom_left = corner(ys.last, xs.first);
    const int32_t* top_left = corner(ys.first, xs.first);
    for (size_t n = 0; n < count; ++n) {
      const int32_t ones_inside = bottom_right[n] - top_right[n] - bottom_left[n] + top_left[n];
      acc[n] -= total[n] - ones_inside;
    }
  }
}

}  // namespace larq_engine
