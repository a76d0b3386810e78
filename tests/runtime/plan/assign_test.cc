// Compares assignments with the best of all possible ones.
#include "larq_engine/runtime/plan/assign.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/common/seed.h"
#include "tests/runtime/plan/assign_oracle.h"

namespace larq_engine {
namespace {

using testing::AssignProblem;
using testing::Random;

// Makes a problem whose costs are whole numbers, so that their sums are exact.
AssignProblem AnyProblem(Random& random) {
  AssignProblem problem;
  const auto cost = [&] { return static_cast<double>(random.Int(0, 6)); };
  const auto add_value = [&](int producer) {
    problem.values.push_back({.producer = producer,
                              .host_reads = producer >= 0 && random.Int(0, 4) == 0,
                              .seconds_there = cost(),
                              .seconds_back = cost()});
  };
  for (int64_t inputs = random.Int(1, 3); inputs > 0; --inputs) add_value(-1);
  const int64_t count = random.Int(1, 10);
  for (int64_t i = 0; i < count; ++i) {
    AssignOp op = {.inputs = {}, .output = 0, .seconds = {cost(), cost()}, .refusal = {}};
    const auto last = static_cast<int64_t>(problem.values.size()) - 1;
    for (int64_t inputs = random.Int(1, 3); inputs > 0; --inputs) {
      op.inputs.push_back(static_cast<size_t>(random.Int(0, last)));
    }
    op.output = problem.values.size();
    if (random.Int(0, 5) == 0) op.refusal[1] = "no such kernel";
    add_value(static_cast<int>(i));
    problem.ops.push_back(op);
  }
  return problem;
}

TEST(Assign, IsTheBestOfAll) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (int round = 0; round < 1000; ++round) {
    const AssignProblem problem = AnyProblem(random);
    const Assignment found = Assign(problem.ops, problem.values, {"cpu", "other"});
    const std::vector<size_t> best = BestOfAll(problem);
    ASSERT_EQ(found.seconds, SecondsOf(problem, best));
    ASSERT_EQ(SecondsOf(problem, found.device), found.seconds);
    ASSERT_EQ(std::count(found.device.begin(), found.device.end(), size_t{1}),
              std::count(best.begin(), best.end(), size_t{1}));
    ASSERT_EQ(found.reasons.size(), problem.ops.size());
  }
}

TEST(Assign, GivesReasons) {
  // There are two operators in a row, and the host reads the result of the second.
  const std::vector<AssignOp> ops = {
      {.inputs = {0}, .output = 1, .seconds = {9e-6, 1e-6}, .refusal = {}},
      {.inputs = {1}, .output = 2, .seconds = {2e-6, 1e-6}, .refusal = {"", "no such kernel"}}};
  const std::vector<AssignValue> values = {
      {.producer = -1, .host_reads = false, .seconds_there = 1e-6, .seconds_back = 0},
      {.producer = 0, .host_reads = false, .seconds_there = 0, .seconds_back = 2e-6},
      {.producer = 1, .host_reads = true, .seconds_there = 0, .seconds_back = 4e-6}};
  const Assignment found = Assign(ops, values, {"cpu", "gpu"});
  EXPECT_EQ(found.device, (std::vector<size_t>{1, 0}));
  EXPECT_DOUBLE_EQ(found.seconds, 6e-6);
  EXPECT_EQ(found.reasons[0], "1 us here, 9 us on cpu; there alone it would take 5 us more");
  EXPECT_EQ(found.reasons[1], "not on gpu: no such kernel");
}

TEST(Assign, LongChains) {
  constexpr size_t kMany = 20000;
  std::vector<AssignOp> ops;
  std::vector<AssignValue> values = {
      {.producer = -1, .host_reads = false, .seconds_there = 1, .seconds_back = 1}};
  for (size_t i = 0; i < kMany; ++i) {
    ops.push_back(
        {.inputs = {i}, .output = i + 1, .seconds = {i % 3 == 0 ? 3.0 : 1.0, 2.0}, .refusal = {}});
    values.push_back({.producer = static_cast<int>(i),
                      .host_reads = i + 1 == kMany,
                      .seconds_there = 0.25,
                      .seconds_back = 0.25});
  }
  // Every third operator is moved, which gains 1 and costs 2 transfers of 0.25. The first is not,
  // because the transfer of its input takes 1.
  const Assignment found = Assign(ops, values, {"cpu", "other"});
  EXPECT_EQ(std::count(found.device.begin(), found.device.end(), size_t{1}),
            static_cast<ptrdiff_t>(kMany / 3));
}

}  // namespace
}  // namespace larq_engine
