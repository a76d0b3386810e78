#include "larq_engine/kernels/window.h"

#include <limits>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(WindowAxis, SamePutsTheLargerHalfBehind) {
  // 3 taps, stride 2 on 14: one place to pad, behind.
  const WindowAxis even = MakeWindowAxis(14, 3, 2, 1, true);
  EXPECT_EQ(even.out, 7);
  EXPECT_EQ(even.pad_before, 0);
  const WindowAxis odd = MakeWindowAxis(15, 3, 2, 1, true);
  EXPECT_EQ(odd.out, 8);
  EXPECT_EQ(odd.pad_before, 1);
}

TEST(WindowAxis, ValidFitsOrIsEmpty) {
  EXPECT_EQ(MakeWindowAxis(5, 3, 2, 1, false).out, 2);
  EXPECT_EQ(MakeWindowAxis(5, 3, 1, 2, false).out, 1);
  EXPECT_EQ(MakeWindowAxis(4, 3, 1, 2, false).out, 0);
}

TEST(WindowAxis, InsideTapsAreThoseInTheImage) {
  for (int64_t in : {1, 2, 3, 7, 12}) {
    for (int64_t taps : {1, 2, 3, 4, 5, 9}) {
      for (int64_t stride : {1, 2, 3, 5}) {
        for (int64_t dilation : {1, 2, 4}) {
          const WindowAxis axis = MakeWindowAxis(in, taps, stride, dilation, true);
          for (int64_t o = 0; o < axis.out; ++o) {
            const WindowAxis::Taps inside = axis.InsideTaps(o);
            for (int64_t tap = 0; tap < taps; ++tap) {
              const int64_t at = o * stride - axis.pad_before + tap * dilation;
              EXPECT_EQ(tap >= inside.first && tap < inside.last, at >= 0 && at < in)
                  << "in " << in << " taps " << taps << " stride " << stride << " dilation "
                  << dilation << " output " << o << " tap " << tap;
            }
          }
        }
      }
    }
  }
}

TEST(WindowAxis, LargestSizesOfAFileDoNotOverflow) {
  const int64_t max = std::numeric_limits<int32_t>::max();
  const WindowAxis same = MakeWindowAxis(max, max, max, max, true);
  EXPECT_EQ(same.out, 1);
  EXPECT_EQ(same.InsideTaps(0).last - same.InsideTaps(0).first, 1);
  EXPECT_EQ(MakeWindowAxis(max, max, max, max, false).out, 0);
}

}  // namespace
}  // namespace larq_engine
