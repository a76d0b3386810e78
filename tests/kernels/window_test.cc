#include "larq_engine/kernels/common/window.h"

#include <limits>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(WindowAxis, SamePutsTheLargerHalfBehind) {
  // 3 taps with stride 2 on 14 pixels need one pixel of padding, behind.
  const WindowAxis even = MakeWindowAxis(14, 3, 2, 1, {.same = true});
  EXPECT_EQ(even.out, 7);
  EXPECT_EQ(even.pad_before, 0);
  const WindowAxis odd = MakeWindowAxis(15, 3, 2, 1, {.same = true});
  EXPECT_EQ(odd.out, 8);
  EXPECT_EQ(odd.pad_before, 1);
}

TEST(WindowAxis, ValidFitsOrIsEmpty) {
  EXPECT_EQ(MakeWindowAxis(5, 3, 2, 1, {}).out, 2);
  EXPECT_EQ(MakeWindowAxis(5, 3, 1, 2, {}).out, 1);
  EXPECT_EQ(MakeWindowAxis(4, 3, 1, 2, {}).out, 0);
}

TEST(WindowAxis, GivenPadsMakeTheImageLarger) {
  // With a stride of 2, SAME's padding depends on the image; given pads do not.
  for (const int64_t in : {32, 33}) {
    const WindowAxis axis = MakeWindowAxis(in, 3, 2, 1, {.before = 0, .after = 1});
    EXPECT_EQ(axis.out, 16);
    EXPECT_EQ(axis.pad_before, 0);
  }
  const WindowAxis wide = MakeWindowAxis(4, 3, 1, 2, {.before = 7, .after = 5});
  EXPECT_EQ(wide.out, 12);
  EXPECT_EQ(wide.pad_before, 7);
  EXPECT_EQ(MakeWindowAxis(1, 5, 1, 1, {.before = 1, .after = 2}).out, 0);
}

void ExpectInsideTaps(int64_t taps, int64_t stride, int64_t dilation, const WindowAxis& axis) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const WindowAxis::Taps inside = axis.InsideTaps(o);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t at = o * stride - axis.pad_before + tap * dilation;
      EXPECT_EQ(tap >= inside.first && tap < inside.last, at >= 0 && at < axis.in)
          << "in " << axis.in << " taps " << taps << " stride " << stride << " dilation "
          << dilation << " pads before " << axis.pad_before << " output " << o << " tap " << tap;
    }
  }
}

TEST(WindowAxis, InsideTapsAreThoseInTheImage) {
  constexpr AxisPadding kPaddings[] = {
      {.same = true}, {}, {.before = 1}, {.after = 2}, {.before = 13, .after = 11}};
  for (int64_t in : {1, 2, 3, 7, 12}) {
    for (int64_t taps : {1, 2, 3, 4, 5, 9}) {
      for (int64_t stride : {1, 2, 3, 5}) {
        for (int64_t dilation : {1, 2, 4}) {
          for (const AxisPadding& padding : kPaddings) {
            ExpectInsideTaps(taps, stride, dilation,
                             MakeWindowAxis(in, taps, stride, dilation, padding));
          }
        }
      }
    }
  }
}

TEST(WindowAxis, LargestSizesOfAFileDoNotOverflow) {
  const int64_t max = std::numeric_limits<int32_t>::max();
  const WindowAxis same = MakeWindowAxis(max, max, max, max, {.same = true});
  EXPECT_EQ(same.out, 1);
  EXPECT_EQ(same.InsideTaps(0).last - same.InsideTaps(0).first, 1);
  EXPECT_EQ(MakeWindowAxis(max, max, max, max, {}).out, 0);
  const WindowAxis padded = MakeWindowAxis(max, 1, 1, 1, {.before = max, .after = max});
  EXPECT_EQ(padded.out, 3 * max);
  EXPECT_EQ(padded.InsideTaps(2 * max).last, 0);
}

}  // namespace
}  // namespace larq_engine
