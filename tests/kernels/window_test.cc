#include "larq_engine/kernels/common/window.h"

#include <limits>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

int64_t Positions(const Window1d& window, int64_t in) { return window.Over(in).out; }

TEST(WindowAxis, SamePutsTheLargerHalfBehind) {
  // 3 taps with stride 2 on 14 pixels need one pixel of padding, behind.
  const Window1d window = {.taps = 3, .stride = 2, .padding = {.same = true}};
  const WindowAxis even = window.Over(14);
  EXPECT_EQ(even.out, 7);
  EXPECT_EQ(even.pad_before, 0);
  const WindowAxis odd = window.Over(15);
  EXPECT_EQ(odd.out, 8);
  EXPECT_EQ(odd.pad_before, 1);
}

TEST(WindowAxis, ValidFitsOrIsEmpty) {
  EXPECT_EQ(Positions({.taps = 3, .stride = 2}, 5), 2);
  EXPECT_EQ(Positions({.taps = 3, .dilation = 2}, 5), 1);
  EXPECT_EQ(Positions({.taps = 3, .dilation = 2}, 4), 0);
}

TEST(WindowAxis, GivenPadsMakeTheImageLarger) {
  // With a stride of 2, SAME's padding depends on the image; given pads do not.
  for (const int64_t in : {32, 33}) {
    const WindowAxis axis =
        Window1d{.taps = 3, .stride = 2, .padding = {.before = 0, .after = 1}}.Over(in);
    EXPECT_EQ(axis.out, 16);
    EXPECT_EQ(axis.pad_before, 0);
  }
  const WindowAxis wide =
      Window1d{.taps = 3, .dilation = 2, .padding = {.before = 7, .after = 5}}.Over(4);
  EXPECT_EQ(wide.out, 12);
  EXPECT_EQ(wide.pad_before, 7);
  EXPECT_EQ(Positions({.taps = 5, .padding = {.before = 1, .after = 2}}, 1), 0);
}

void ExpectInsideTaps(const WindowAxis& axis) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const WindowAxis::Taps inside = axis.InsideTaps(o);
    for (int64_t tap = 0; tap < axis.taps; ++tap) {
      const int64_t at = o * axis.stride - axis.pad_before + tap * axis.dilation;
      EXPECT_EQ(tap >= inside.first && tap < inside.last, at >= 0 && at < axis.in)
          << "in " << axis.in << " taps " << axis.taps << " stride " << axis.stride << " dilation "
          << axis.dilation << " pads before " << axis.pad_before << " output " << o << " tap "
          << tap;
    }
  }
}

// Tells whether some output position has a tap outside the image, by looking at each.
bool HasTapsOutside(const WindowAxis& axis) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const WindowAxis::Taps inside = axis.InsideTaps(o);
    if (inside.first > 0 || inside.last < axis.taps) return true;
  }
  return false;
}

TEST(WindowAxis, InsideTapsAreThoseInTheImage) {
  constexpr AxisPadding kPaddings[] = {
      {.same = true}, {}, {.before = 1}, {.after = 2}, {.before = 13, .after = 11}};
  for (int64_t in : {1, 2, 3, 7, 12}) {
    for (int64_t taps : {1, 2, 3, 4, 5, 9}) {
      for (int64_t stride : {1, 2, 3, 5}) {
        for (int64_t dilation : {1, 2, 4}) {
          for (const AxisPadding& padding : kPaddings) {
            const WindowAxis axis = Window1d{taps, stride, dilation, padding}.Over(in);
            ExpectInsideTaps(axis);
            if (axis.out > 0) {
              EXPECT_EQ(axis.HasTapsOutside(), HasTapsOutside(axis));
            }
          }
        }
      }
    }
  }
}

TEST(WindowAxis, LargestSizesOfAFileDoNotOverflow) {
  const int64_t max = std::numeric_limits<int32_t>::max();
  const WindowAxis same =
      Window1d{.taps = max, .stride = max, .dilation = max, .padding = {.same = true}}.Over(max);
  EXPECT_EQ(same.out, 1);
  EXPECT_EQ(same.InsideTaps(0).last - same.InsideTaps(0).first, 1);
  EXPECT_EQ(Positions({.taps = max, .stride = max, .dilation = max}, max), 0);
  const WindowAxis padded = Window1d{.padding = {.before = max, .after = max}}.Over(max);
  EXPECT_EQ(padded.out, 3 * max);
  EXPECT_EQ(padded.InsideTaps(2 * max).last, 0);
}

}  // namespace
}  // namespace larq_engine
