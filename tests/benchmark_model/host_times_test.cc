#include "larq_engine/benchmark_model/host_times.h"

#include <utility>

#include "gtest/gtest.h"
#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

constexpr char kConvolution[] = "Convolution (NHWC, F32) IGEMM";
constexpr char kDense[] = "Fully Connected (NC, F32) GEMM";
constexpr char kReshape[] = "Static Reshape (NC)";

std::vector<OperatorNames> Named(const std::vector<std::string>& ops) {
  std::vector<OperatorNames> names;
  for (const std::string& op : ops) names.push_back({.op = op, .layer = "", .tensor = ""});
  return names;
}

using Steps = std::vector<std::pair<std::string, uint64_t>>;

void AppendSteps(const Steps& steps, std::vector<HostEntry>& entries) {
  for (size_t i = 0; i < steps.size(); ++i) {
    entries.push_back({.is_xnnpacks = true,
                       .number = i,
                       .name = steps[i].first,
                       .microseconds = steps[i].second});
  }
}

// Returns whole microseconds of each operator, all of them in one piece of XNNPACK's, and half of
// one for each step.
std::vector<HostOpTimes> Divided(const std::vector<std::string>& ops, const Steps& steps) {
  HostPlanStep part = {.part = HostPart::kXnnpack};
  for (size_t i = 0; i < ops.size(); ++i) part.nodes.push_back(static_cast<int>(i));
  std::vector<HostEntry> entries;
  AppendSteps(steps, entries);
  HostTimes times({part}, Named(ops));
  times.AddRun(entries);
  return times.ops();
}

std::vector<double> Microseconds(const std::vector<HostOpTimes>& ops) {
  std::vector<double> times;
  for (const HostOpTimes& op : ops) times.push_back(op.seconds.at(0) * 1e6);
  return times;
}

void ExpectTimes(const std::vector<HostOpTimes>& ops, const std::vector<double>& expected) {
  const std::vector<double> times = Microseconds(ops);
  ASSERT_EQ(times.size(), expected.size());
  for (size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], expected[i], 1e-6) << i;
}

TEST(HostTimes, AStepForEachOperator) {
  const auto ops = Divided({"CONV_2D", "DEPTHWISE_CONV_2D", "CONV_2D"},
                           {{kConvolution, 10}, {kConvolution, 20}, {kDense, 30}});
  ExpectTimes(ops, {10.5, 20.5, 30.5});
  for (const HostOpTimes& op : ops) EXPECT_EQ(op.source, "");
}

TEST(HostTimes, StepsOfNoNameOfTheirsStayWithTheOperatorBefore) {
  const auto ops = Divided({"ADD", "AVERAGE_POOL_2D", "FULLY_CONNECTED", "SOFTMAX"},
                           {{"Add (ND)", 10},
                            {"Clamp (NC)", 3},
                            {"Average Pooling (NHWC, F32) Average Pooling", 20},
                            {kReshape, 1},
                            {kDense, 30},
                            {"Softmax (NC, F32)", 5}});
  ExpectTimes(ops, {14, 22, 30.5, 5.5});
  for (const HostOpTimes& op : ops) EXPECT_EQ(op.source, "");
}

TEST(HostTimes, StepsBeforeTheFirstAreTheFirsts) {
  ExpectTimes(Divided({"FULLY_CONNECTED", "SOFTMAX"},
                      {{kReshape, 1}, {kDense, 30}, {"Softmax (NC, F32)", 5}}),
              {32, 5.5});
}

TEST(HostTimes, OperatorsWithoutSteps) {
  const auto ops =
      Divided({"CONV_2D", "MINIMUM", "RELU", "MUL"}, {{kConvolution, 10}, {"Multiply (ND)", 4}});
  ExpectTimes(ops, {10.5, 0, 0, 4.5});
  EXPECT_EQ(ops[0].source, "");
  EXPECT_NE(ops[1].source.find("no step"), std::string::npos);
  EXPECT_EQ(ops[3].source, "");
}

TEST(HostTimes, StepsThatNobodyKnowsGoByTheOrder) {
  const auto ops = Divided({"CONV_2D", "COS", "CONV_2D"},
                           {{kConvolution, 10}, {"Cosine (NC)", 20}, {kConvolution, 30}});
  ExpectTimes(ops, {10.5, 20.5, 30.5});
  EXPECT_NE(ops[1].source.find("Cosine (NC)"), std::string::npos);
}

// Returns the steps of a plan: an operator by itself, the engine's, and two pieces of XNNPACK's.
std::vector<HostPlanStep> Plan() {
  return {{.part = HostPart::kXnnpack, .nodes = {0, 2}},
          {.part = HostPart::kEngine, .nodes = {1}},
          {.part = HostPart::kOperator, .nodes = {3}},
          {.part = HostPart::kXnnpack, .nodes = {4}}};
}

std::vector<OperatorNames> NamesOfPlan() {
  return Named({"CONV_2D", "LceBconv2d", "ADD", "SPLIT", "ADD"});
}

std::vector<HostEntry> Entries(uint64_t time) {
  std::vector<HostEntry> entries;
  AppendSteps({{kConvolution, time}, {"Add (ND)", time + 1}}, entries);
  entries.push_back({.number = 3, .name = "SPLIT", .microseconds = time + 2});
  AppendSteps({{"Add (ND)", time + 3}}, entries);
  return entries;
}

TEST(HostTimes, EachRunOfAPlan) {
  HostTimes times(Plan(), NamesOfPlan());
  times.AddRun(Entries(10));
  times.AddRun(Entries(20));
  ExpectTimes(times.ops(), {10.5, 11.5, 12, 13.5});
  std::vector<int> nodes;
  for (const HostOpTimes& op : times.ops()) nodes.push_back(op.node);
  EXPECT_EQ(nodes, (std::vector<int>{0, 2, 3, 4}));
  EXPECT_NEAR(times.ops()[2].seconds.at(1), 22e-6, 1e-12);
}

TEST(HostTimes, EntriesThatAreNotThePlansAreRefused) {
  const std::vector<HostEntry> entries = Entries(10);
  for (size_t left_out = 0; left_out < entries.size(); ++left_out) {
    std::vector<HostEntry> fewer = entries;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
    HostTimes times(Plan(), NamesOfPlan());
    times.AddRun(entries);
    EXPECT_THROW(times.AddRun(fewer), ModelError) << left_out;
  }
  std::vector<HostEntry> more = entries;
  AppendSteps({{"Add (ND)", 1}}, more);
  EXPECT_THROW(HostTimes(Plan(), NamesOfPlan()).AddRun(more), ModelError);
  EXPECT_THROW(HostTimes({}, NamesOfPlan()).AddRun(entries), ModelError);
}

}  // namespace
}  // namespace larq_engine
