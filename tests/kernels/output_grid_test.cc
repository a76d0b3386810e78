#include "larq_engine/kernels/common/output_grid.h"

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

// Tells whether all taps of output position `o` are in the image.
bool IsInner(const WindowAxis& axis, int64_t o) {
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    const int64_t at = o * axis.stride - axis.pad_before + tap * axis.dilation;
    if (at < 0 || at >= axis.in) return false;
  }
  return true;
}

// Counts pixel by pixel: inner ones up to the end of their line, others up to the next inner one.
int64_t CountAlike(const OutputGrid& grid, const OutputGrid::Position& start, int64_t most) {
  const bool are_inner = IsInner(grid.width(), start.x);
  OutputGrid::Position position = start;
  for (int64_t count = 0; count < most; ++count) {
    if (IsInner(grid.width(), position.x) != are_inner) return count;
    if (are_inner && (position.y != start.y || position.image != start.image)) return count;
    grid.Advance(position, 1);
  }
  return most;
}

void ExpectPixelsAlike(const WindowAxis& height, const WindowAxis& width) {
  const OutputGrid grid({height, width});
  for (int64_t pixel = 0; pixel < 2 * height.out * width.out; ++pixel) {
    const OutputGrid::Position position = grid.Locate(pixel);
    for (int64_t most : {1, 2, 3, 12, 100}) {
      ASSERT_EQ(grid.PixelsAlike(position, most), CountAlike(grid, position, most))
          << "in " << width.in << " taps " << width.taps << " stride " << width.stride
          << " dilation " << width.dilation << " pads before " << width.pad_before << " pixel "
          << pixel << " at most " << most;
    }
  }
}

TEST(OutputGrid, PixelsAlikeEndWhereInnerOnesBeginOrEnd) {
  constexpr AxisPadding kPaddings[] = {
      {.same = true}, {}, {.before = 1}, {.after = 2}, {.before = 13, .after = 11}};
  for (const AxisPadding& of_lines : {AxisPadding{}, AxisPadding{.same = true}}) {
    const WindowAxis height = Window1d{.taps = 2, .padding = of_lines}.Over(3);
    for (int64_t in : {1, 2, 3, 7, 12, 30}) {
      for (int64_t taps : {1, 2, 3, 4, 5, 9}) {
        for (int64_t stride : {1, 2, 3, 5}) {
          for (int64_t dilation : {1, 2, 4}) {
            for (const AxisPadding& padding : kPaddings) {
              const Window1d width{taps, stride, dilation, padding};
              ExpectPixelsAlike(height, width.Over(in));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace larq_engine
