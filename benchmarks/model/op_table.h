// Where the time goes: a row for each operator of the engine, and one for all that the host ran.
#ifndef BENCHMARKS_MODEL_OP_TABLE_H_
#define BENCHMARKS_MODEL_OP_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/model/engine.h"

namespace larq_engine {

struct OpRow {
  std::string op;
  std::string name;    // of the layer
  std::string tensor;  // what the operator makes
  int node = -1;       // in the file's graph; -1 of the host's row
  std::string device;  // where it is computed; of a transfer, where it leads
  std::string kernel;
  uint64_t calls = 0;
  double ms_per_call = 0;
  double percent = 0;     // of all runs together
  double gmac_per_s = 0;  // 0: it does not multiply
};

// The `op` of the host's row, as in the Python package.
inline constexpr char kHostOp[] = "host runtime";

struct OpTable {
  std::vector<OpRow> rows;  // the engine's in the order of execution, then the host's
  int64_t runs = 0;
  double ms_per_run = 0;
};

OpTable MakeOpTable(std::span<const StepProfile> steps, int64_t elapsed_ns, int64_t runs);

// Aligned columns, one line for each row; nodes and devices only where there are others than the
// CPU.
std::string FormatOpTable(const OpTable& table);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_OP_TABLE_H_
