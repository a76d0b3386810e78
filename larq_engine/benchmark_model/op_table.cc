#include "larq_engine/benchmark_model/op_table.h"

#include <algorithm>
#include <cstdio>

#include "larq_engine/runtime/printable.h"

namespace larq_engine {
namespace {

struct Column {
  const char* title;
  bool is_text;             // aligned to the left
  bool is_of_devices_only;  // left out if the CPU computes everything
  std::string (*cell)(const OpRow& row);
};

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

constexpr Column kColumns[] = {
    {"node", false, true,
     [](const OpRow& row) { return row.node < 0 ? "" : std::to_string(row.node); }},
    {"op", true, false, [](const OpRow& row) { return row.op; }},
    {"layer", true, false, [](const OpRow& row) { return row.name; }},
    {"device", true, true, [](const OpRow& row) { return row.device; }},
    {"kernel", true, false, [](const OpRow& row) { return row.kernel; }},
    {"calls", false, false, [](const OpRow& row) { return std::to_string(row.calls); }},
    {"ms/call", false, false, [](const OpRow& row) { return Fixed(row.ms_per_call, 4); }},
    {"%", false, false, [](const OpRow& row) { return Fixed(row.percent, 1); }},
    {"GMAC/s", false, false,
     [](const OpRow& row) { return row.gmac_per_s == 0 ? "" : Fixed(row.gmac_per_s, 1); }},
};

bool IsOfTheCpuOnly(const OpTable& table) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [](const OpRow& row) { return row.device.empty() || row.device == "cpu"; });
}

}  // namespace

OpTable MakeOpTable(std::span<const StepProfile> steps, std::span<const HostOp> host_ops,
                    int64_t elapsed_ns, int64_t runs, bool has_host) {
  OpTable table;
  table.runs = runs;
  table.ms_per_run = static_cast<double>(elapsed_ns) / 1e6 / static_cast<double>(runs);
  const double elapsed = static_cast<double>(elapsed_ns);
  double left = elapsed;
  for (const StepProfile& step : steps) {
    const double time = static_cast<double>(step.total_ns);
    // A step has no calls if it is in a branch that the data did not take.
    const double calls = static_cast<double>(std::max<uint64_t>(step.calls, 1));
    const double macs = static_cast<double>(step.macs) + static_cast<double>(step.absorbed_macs);
    left -= time;
    table.rows.push_back({.op = step.op,
                          .name = step.layer,
                          .tensor = step.name,
                          .node = step.node,
                          .device = step.device,
                          .kernel = step.kernel,
                          .calls = step.calls,
                          .ms_per_call = time / calls / 1e6,
                          .percent = 100 * time / elapsed,
                          .gmac_per_s = time == 0 ? 0 : macs * calls / time});
  }
  double of_host = 0;
  for (const HostOp& op : host_ops) of_host += op.ms * 1e6 * static_cast<double>(runs);
  const double factor = of_host > left ? std::max(left, 0.0) / of_host : 1;
  left -= factor * of_host;
  for (const HostOp& op : host_ops) {
    table.rows.push_back({.op = op.names.op,
                          .name = op.names.layer,
                          .tensor = op.names.tensor,
                          .node = op.node,
                          .device = "host",
                          .kernel = "",
                          .calls = static_cast<uint64_t>(runs),
                          .ms_per_call = factor * op.ms,
                          .percent = 100 * factor * op.ms / table.ms_per_run,
                          .gmac_per_s = 0});
  }
  if (!has_host) return table;
  table.rows.push_back({.op = kHostOp,
                        .name = host_ops.empty() ? "all other operators" : "between operators",
                        .tensor = "",
                        .node = -1,
                        .device = "",
                        .kernel = "",
                        .calls = static_cast<uint64_t>(runs),
                        .ms_per_call = left / 1e6 / static_cast<double>(runs),
                        .percent = 100 * left / elapsed,
                        .gmac_per_s = 0});
  return table;
}

std::string FormatOpTable(const OpTable& table) {
  const bool cpu_only = IsOfTheCpuOnly(table);
  std::vector<std::string> lines(table.rows.size() + 1);
  for (const Column& column : kColumns) {
    if (column.is_of_devices_only && cpu_only) continue;
    std::vector<std::string> cells = {column.title};
    for (const OpRow& row : table.rows) cells.push_back(Printable(column.cell(row)));
    size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, Letters(cell));
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(width - Letters(cells[i]), ' ');
      if (!lines[i].empty()) lines[i] += "  ";
      lines[i] += column.is_text ? cells[i] + padding : padding + cells[i];
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace larq_engine
