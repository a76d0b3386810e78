#include "benchmarks/model/op_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace larq_engine {
namespace {

constexpr size_t kColumns = 7;
constexpr size_t kFirstNumber = 3;  // the columns from here on are aligned to the right
using Line = std::array<std::string, kColumns>;

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

Line Cells(const OpRow& row) {
  return {row.op,
          row.name,
          row.kernel,
          std::to_string(row.calls),
          Fixed(row.ms_per_call, 4),
          Fixed(row.percent, 1),
          row.gmac_per_s == 0 ? "" : Fixed(row.gmac_per_s, 1)};
}

}  // namespace

OpTable MakeOpTable(std::span<const StepProfile> steps, int64_t elapsed_ns, int64_t runs) {
  OpTable table;
  table.runs = runs;
  table.ms_per_run = static_cast<double>(elapsed_ns) / 1e6 / static_cast<double>(runs);
  const double elapsed = static_cast<double>(elapsed_ns);
  double host = elapsed;
  for (const StepProfile& step : steps) {
    const double time = static_cast<double>(step.total_ns);
    // A branch that the data did not take has steps without calls.
    const double calls = static_cast<double>(std::max<uint64_t>(step.calls, 1));
    host -= time;
    table.rows.push_back(
        {.op = step.op,
         .name = step.layer,
         .tensor = step.name,
         .device = step.device,
         .kernel = step.kernel,
         .calls = step.calls,
         .ms_per_call = time / calls / 1e6,
         .percent = 100 * time / elapsed,
         .gmac_per_s = time == 0 ? 0 : static_cast<double>(step.macs) * calls / time});
  }
  table.rows.push_back({.op = kHostOp,
                        .name = "all other operators",
                        .tensor = "",
                        .device = "",
                        .kernel = "",
                        .calls = static_cast<uint64_t>(runs),
                        .ms_per_call = host / 1e6 / static_cast<double>(runs),
                        .percent = 100 * host / elapsed,
                        .gmac_per_s = 0});
  return table;
}

std::string FormatOpTable(const OpTable& table) {
  std::vector<Line> lines = {{"op", "layer", "kernel", "calls", "ms/call", "%", "GMAC/s"}};
  for (const OpRow& row : table.rows) lines.push_back(Cells(row));
  std::array<size_t, kColumns> widths = {};
  for (const Line& line : lines) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    std::string row;
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string padding(widths[i] - line[i].size(), ' ');
      row += (i == 0 ? "" : "  ") + (i < kFirstNumber ? line[i] + padding : padding + line[i]);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace larq_engine
