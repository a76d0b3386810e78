// The one list of micro-kernels on bytes. Adding one: its .cc, its row here, its line in BUILD, and
// one expectation in tests/kernels/select_product_test.cc. Dispatch, tests and benchmarks follow.
#ifndef LARQ_ENGINE_KERNELS_BYTE_TABLE_H_
#define LARQ_ENGINE_KERNELS_BYTE_TABLE_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/byte_product.h"
#include "larq_engine/kernels/cpu_features.h"

namespace larq_engine {

struct ByteRow {
  const char* name;  // bytes_i32_<mr>x<nr>x<kr>_<isa>
  Isa isa;
  int mr;
  int nr;
  int kr;
  int in_planes;
  int weight_planes;
  // Beside BgemmRow::macs_per_cycle: what makes the choice right where both were measured.
  int macs_per_cycle;
  int macs_per_cycle_of_one = 0;  // on a core with one multiplier of its vectors, if that is less
  // On such a core, of a pixel alone (choice_bench, dense layers of 784 to 4,096 by 10 and 256).
  int macs_per_cycle_of_pixel = 0;
  int expanded_per_cycle;  // bytes, of one plane
  // What a tile takes besides, whatever its columns and depth: of lines (byte_lines.h), and of taps
  // that are gathered.
  int cycles_per_tile = 0;
  int gather_cycles_per_tile = 0;
  ByteFn fn;
  ExpandFn expand;
};

// The rows that this build holds, for whatever CPU.
std::span<const ByteRow> ByteRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTE_TABLE_H_
