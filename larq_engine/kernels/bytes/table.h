// The one list of micro-kernels on bytes. A new one takes its .cc, its row here, and one
// expectation in tests/kernels/select_product_test.cc. Dispatch, tests and benchmarks follow.
#ifndef LARQ_ENGINE_KERNELS_BYTES_TABLE_H_
#define LARQ_ENGINE_KERNELS_BYTES_TABLE_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/bytes/byte_product.h"
#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {

struct ByteRow {
  const char* name;  // bytes_i32_<mr>x<nr>x<kr>_<isa>
  Isa isa;
  int mr;
  int nr;
  int kr;
  int in_planes;
  int weight_planes;
  bool left_is_signed = false;  // whether bytes of the left side are int8
  // The rate, in the units of BgemmRow::macs_per_cycle. Its value makes the choice right in all
  // layers for which both products were measured.
  int macs_per_cycle;
  // The rate on a core with one multiplier for its vectors, if that is lower.
  int macs_per_cycle_of_one = 0;
  // The rate on that core for a single pixel (choice_bench, dense layers of 784 to 4,096 inputs by
  // 10 and 256).
  int macs_per_cycle_of_pixel = 0;
  int expanded_per_cycle;  // bytes a cycle, expanded of one plane
  // Cycles that a tile takes in addition, whatever its columns and depth: if it reads lines
  // (byte_lines.h), and if its taps are gathered.
  int cycles_per_tile = 0;
  int gather_cycles_per_tile = 0;
  ByteFn fn;
  ExpandFn expand;
};

// Returns the bits by which an int8 differs from the byte that the row reads for it. For rows whose
// left side is unsigned that byte is the value plus 128.
constexpr uint8_t FlipOfInt8(const ByteRow& row) { return row.left_is_signed ? 0 : 0x80; }

// Returns all rows of this build, also those that this CPU lacks.
std::span<const ByteRow> ByteRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_TABLE_H_
