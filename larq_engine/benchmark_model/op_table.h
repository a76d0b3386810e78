// A table of times: a row for each operator, and one for the rest of the time, if there is a host.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_OP_TABLE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_OP_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/operator_names.h"

namespace larq_engine {

struct OpRow {
  std::string op;
  std::string name;    // name of the layer
  std::string tensor;  // name of the output
  int node = -1;       // in the file's graph; -1 for the rest
  std::string device;  // device that computes it, or to which a transfer leads
  std::string kernel;
  uint64_t calls = 0;
  double ms_per_call = 0;
  double percent = 0;     // share of the time of all runs
  double gmac_per_s = 0;  // 0 if it does not multiply
};

// The `op` of the row for the rest of the time. The Python package uses the same name, and has no
// such row without a host either.
inline constexpr char kHostOp[] = "host runtime";

// An operator that the host ran. Its time is from other runs than the engine's.
struct HostOp {
  OperatorNames names;
  int node = 0;
  double ms = 0;  // time in one run
};

struct OpTable {
  // First the engine's operators in the order of execution, then the host's, then the rest.
  std::vector<OpRow> rows;
  int64_t runs = 0;
  double ms_per_run = 0;
};

// Makes the table. The host's operators must fit into the time that the engine's left over: if they
// take more, all of them are scaled by the same factor. Without its operators, the last row is all
// that the host does; without a host there is no such row.
OpTable MakeOpTable(std::span<const StepProfile> steps, std::span<const HostOp> host_ops,
                    int64_t elapsed_ns, int64_t runs, bool has_host = true);

// Formats the table in aligned columns, one line for each row. Nodes and devices are shown only if
// there are other devices than the CPU.
std::string FormatOpTable(const OpTable& table);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_OP_TABLE_H_
