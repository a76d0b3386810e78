#include "benchmarks/model/op_table.h"

#include "benchmarks/model/errors.h"
#include "gtest/gtest.h"

namespace larq_engine {
namespace {

constexpr char kJson[] =
    R"({"steps":[{"op":"LceBconv2d","name":"a \"b\\\u0009","node":7,"kernel":"bgemm_x","calls":2,)"
    R"("total_ns":3000000,"macs":1500000},{"op":"ADD","name":"","node":8,"kernel":"","calls":0,)"
    R"("total_ns":0,"macs":0}]})";

TEST(EngineSteps, AreReadFromTheProfile) {
  const std::vector<EngineStep> steps = ParseSteps(kJson);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].op, "LceBconv2d");
  EXPECT_EQ(steps[0].name, "a \"b\\\t");
  EXPECT_EQ(steps[0].node, 7);
  EXPECT_EQ(steps[0].kernel, "bgemm_x");
  EXPECT_EQ(steps[0].calls, 2u);
  EXPECT_EQ(steps[0].total_ns, 3000000u);
  EXPECT_EQ(steps[0].macs, 1500000u);
  EXPECT_EQ(steps[1].op, "ADD");
  EXPECT_TRUE(ParseSteps(R"({"steps":[]})").empty());
}

TEST(EngineSteps, OtherTextIsAnError) {
  for (size_t length = 0; length + 1 < sizeof(kJson); ++length) {
    EXPECT_THROW(ParseSteps({kJson, length}), RunError) << length;
  }
}

TEST(OpTable, TheHostGetsWhatIsLeft) {
  const OpTable table = MakeOpTable(ParseSteps(kJson), 4000000, 2);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.ms_per_run, 2);
  EXPECT_EQ(table.rows[0].ms_per_call, 1.5);
  EXPECT_EQ(table.rows[0].percent, 75);
  EXPECT_EQ(table.rows[0].gmac_per_s, 1);
  EXPECT_EQ(table.rows[1].ms_per_call, 0);
  EXPECT_EQ(table.rows[1].gmac_per_s, 0);
  EXPECT_EQ(table.rows[2].op, kHostOp);
  EXPECT_EQ(table.rows[2].calls, 2u);
  EXPECT_EQ(table.rows[2].ms_per_call, 0.5);
  EXPECT_EQ(table.rows[2].percent, 25);
}

TEST(OpTable, ColumnsAreAligned) {
  std::vector<EngineStep> steps = ParseSteps(kJson);
  steps[0].name = "conv";
  EXPECT_EQ(FormatOpTable(MakeOpTable(steps, 4000000, 2)),
            "op            name                 kernel   calls  ms/call     %  GMAC/s\n"
            "LceBconv2d    conv                 bgemm_x      2   1.5000  75.0     1.0\n"
            "ADD                                             0   0.0000   0.0\n"
            "host runtime  all other operators               2   0.5000  25.0\n");
}

}  // namespace
}  // namespace larq_engine
