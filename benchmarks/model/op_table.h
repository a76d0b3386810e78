// Where the time goes: a row for each operator, and one for what is left of the time.
#ifndef BENCHMARKS_MODEL_OP_TABLE_H_
#define BENCHMARKS_MODEL_OP_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/model/engine.h"
#include "benchmarks/model/operator_names.h"

namespace larq_engine {

struct OpRow {
  std::string op;
  std::string name;    // of the layer
  std::string tensor;  // what the operator makes
  int node = -1;       // in the file's graph; -1 of the last row
  std::string device;  // where it is computed; of a transfer, where it leads
  std::string kernel;
  uint64_t calls = 0;
  double ms_per_call = 0;
  double percent = 0;     // of all runs together
  double gmac_per_s = 0;  // 0: it does not multiply
};

// The `op` of the row of what is left, as in the Python package.
inline constexpr char kHostOp[] = "host runtime";

// An operator that the host ran, in other runs than the engine's.
struct HostOp {
  OperatorNames names;
  int node = 0;
  double ms = 0;  // of one run
};

struct OpTable {
  // The engine's in the order of execution, then the host's, then what is left.
  std::vector<OpRow> rows;
  int64_t runs = 0;
  double ms_per_run = 0;
};

// The host's operators take no more than the engine's left of the time: beyond that they are made
// shorter, each by the same factor.
OpTable MakeOpTable(std::span<const StepProfile> steps, std::span<const HostOp> host_ops,
                    int64_t elapsed_ns, int64_t runs);

// Aligned columns, one line for each row; nodes and devices only where there are others than the
// CPU.
std::string FormatOpTable(const OpTable& table);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_OP_TABLE_H_
