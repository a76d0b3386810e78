#include "larq_engine/benchmark_model/statistics.h"

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(Statistics, OfNothing) {
  const Statistics none = Summarize({});
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(none.p99, 0);
}

TEST(Statistics, OfOne) {
  const Statistics one = Summarize({3});
  EXPECT_EQ(one.count, 1u);
  EXPECT_EQ(one.mean, 3);
  EXPECT_EQ(one.deviation, 0);
  EXPECT_EQ(one.p50, 3);
  EXPECT_EQ(one.p99, 3);
}

// The figures are NumPy's: numpy.percentile and numpy.std(ddof=1).
TEST(Statistics, OfSeveralInAnyOrder) {
  const Statistics some = Summarize({4, 1, 2, 10, 3});
  EXPECT_EQ(some.count, 5u);
  EXPECT_DOUBLE_EQ(some.mean, 4);
  EXPECT_DOUBLE_EQ(some.deviation, 3.5355339059327378);
  EXPECT_EQ(some.min, 1);
  EXPECT_EQ(some.max, 10);
  EXPECT_DOUBLE_EQ(some.p50, 3);
  EXPECT_DOUBLE_EQ(some.p90, 7.6);
  EXPECT_DOUBLE_EQ(some.p95, 8.8);
  EXPECT_DOUBLE_EQ(some.p99, 9.76);
}

TEST(Statistics, TheMiddleMeanLeavesOutAQuarterAtEachEnd) {
  EXPECT_EQ(MiddleMean({}), 0);
  EXPECT_EQ(MiddleMean({3}), 3);
  EXPECT_EQ(MiddleMean({1, 2, 6}), 3);
  EXPECT_EQ(MiddleMean({100, 1, 3, 4}), 3.5);
  EXPECT_EQ(MiddleMean({0, 9, 1, 1, 2, 2, 100, 0}), 1.5);
}

}  // namespace
}  // namespace larq_engine
