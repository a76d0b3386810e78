#include "larq_engine/benchmark_model/op_table.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/runtime/printable.h"

namespace larq_engine {
namespace {

std::vector<StepProfile> Steps() {
  return {{.op = "LceBconv2d",
           .name = "conv:LceBconv2d",
           .layer = "conv",
           .node = 7,
           .device = "cpu",
           .kernel = "bgemm_x",
           .calls = 2,
           .total_ns = 3000000,
           .macs = 1000000,
           .absorbed = {9},
           .absorbed_macs = 500000},
          {.op = "ADD",
           .name = "",
           .layer = "",
           .node = 8,
           .device = "cpu",
           .kernel = "",
           .calls = 0,
           .total_ns = 0,
           .macs = 0}};
}

TEST(OpTable, TheHostGetsWhatIsLeft) {
  const OpTable table = MakeOpTable(Steps(), {}, 4000000, 2);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.ms_per_run, 2);
  EXPECT_EQ(table.rows[0].name, "conv");
  EXPECT_EQ(table.rows[0].tensor, "conv:LceBconv2d");
  EXPECT_EQ(table.rows[0].ms_per_call, 1.5);
  EXPECT_EQ(table.rows[0].percent, 75);
  EXPECT_EQ(table.rows[0].gmac_per_s, 1);
  EXPECT_EQ(table.rows[1].ms_per_call, 0);
  EXPECT_EQ(table.rows[1].gmac_per_s, 0);
  EXPECT_EQ(table.rows[2].op, kHostOp);
  EXPECT_EQ(table.rows[2].name, "all other operators");
  EXPECT_EQ(table.rows[2].calls, 2u);
  EXPECT_EQ(table.rows[2].ms_per_call, 0.5);
  EXPECT_EQ(table.rows[2].percent, 25);
}

TEST(OpTable, WithoutAHostAllRowsAreTheEngines) {
  const OpTable table = MakeOpTable(Steps(), {}, 4000000, 2, /*has_host=*/false);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].op, "LceBconv2d");
  EXPECT_EQ(table.rows[0].percent, 75);
  EXPECT_EQ(table.rows[1].op, "ADD");
  EXPECT_EQ(table.ms_per_run, 2);
}

std::vector<HostOp> HostOps() {
  return {{.names = {.op = "CONV_2D", .layer = "first", .tensor = "first:0"}, .node = 3, .ms = 0.1},
          {.names = {.op = "SOFTMAX", .layer = "last", .tensor = "last:0"}, .node = 9, .ms = 0.3}};
}

TEST(OpTable, TheHostsOperatorsAreSingle) {
  const OpTable table = MakeOpTable(Steps(), HostOps(), 4000000, 2);
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(table.rows[2].op, "CONV_2D");
  EXPECT_EQ(table.rows[2].name, "first");
  EXPECT_EQ(table.rows[2].tensor, "first:0");
  EXPECT_EQ(table.rows[2].node, 3);
  EXPECT_EQ(table.rows[2].device, "host");
  EXPECT_EQ(table.rows[2].calls, 2u);
  EXPECT_DOUBLE_EQ(table.rows[2].ms_per_call, 0.1);
  EXPECT_DOUBLE_EQ(table.rows[3].percent, 15);
  EXPECT_EQ(table.rows[4].op, kHostOp);
  EXPECT_EQ(table.rows[4].name, "between operators");
  EXPECT_NEAR(table.rows[4].ms_per_call, 0.1, 1e-12);
  EXPECT_NEAR(table.rows[4].percent, 5, 1e-12);
}

TEST(OpTable, TheHostsOperatorsTakeNoMoreThanIsLeft) {
  std::vector<HostOp> ops = HostOps();
  for (HostOp& op : ops) op.ms *= 5;
  const OpTable table = MakeOpTable(Steps(), ops, 4000000, 2);
  EXPECT_DOUBLE_EQ(table.rows[2].ms_per_call, 0.125);
  EXPECT_DOUBLE_EQ(table.rows[3].percent, 18.75);
  EXPECT_NEAR(table.rows[4].ms_per_call, 0, 1e-12);
}

TEST(OpTable, ColumnsAreAligned) {
  EXPECT_EQ(FormatOpTable(MakeOpTable(Steps(), {}, 4000000, 2)),
            "op            layer                kernel   calls  ms/call     %  GMAC/s\n"
            "LceBconv2d    conv                 bgemm_x      2   1.5000  75.0     1.0\n"
            "ADD                                             0   0.0000   0.0\n"
            "host runtime  all other operators               2   0.5000  25.0\n");
}

TEST(OpTable, NodesAndDevicesWhereThereAreOthersThanTheCpu) {
  std::vector<StepProfile> steps = Steps();
  steps[0].device = "cuda";
  steps[1].op = kTransfer;
  steps[1].calls = 2;
  steps[1].total_ns = 500000;
  const OpTable table = MakeOpTable(steps, {}, 4000000, 2);
  EXPECT_EQ(table.rows[0].node, 7);
  EXPECT_EQ(table.rows[2].node, -1);
  EXPECT_EQ(
      FormatOpTable(table),
      "node  op            layer                device  kernel   calls  ms/call     %  GMAC/s\n"
      "   7  LceBconv2d    conv                 cuda    bgemm_x      2   1.5000  75.0     1.0\n"
      "   8  TRANSFER                           cpu                  2   0.2500  12.5\n"
      "      host runtime  all other operators                       2   0.2500  12.5\n");
}

TEST(OpTable, NamesAreFitForATerminalAndAlignByLetters) {
  OpTable table;
  for (const char* name : {"größer\n", "kleiner\x1b[31m"}) {
    OpRow row;
    row.op = "ADD";
    row.name = name;
    row.kernel = "k";
    table.rows.push_back(row);
  }
  const std::string text = FormatOpTable(table);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::vector<size_t> columns;  // places of the kernels: columns align by letters
  for (size_t start = text.find('\n') + 1; start < text.size();) {
    const size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    columns.push_back(Letters(line.substr(0, line.find(" k "))));
    start = end + 1;
  }
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0], columns[1]);
}

}  // namespace
}  // namespace larq_engine
