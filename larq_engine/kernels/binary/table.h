// The one list of micro-kernels on bits. A new one takes its .cc, its row here, and one expectation
// in tests/kernels/select_test.cc. Dispatch, tests and benchmarks follow.
#ifndef LARQ_ENGINE_KERNELS_BINARY_TABLE_H_
#define LARQ_ENGINE_KERNELS_BINARY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "larq_engine/kernels/binary/bgemm.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {

struct BgemmRow {
  const char* name;  // bgemm_<accumulator>_<mr>x<nr>x<kr_bits>_<isa>
  Isa isa;
  int mr;
  int nr;
  int kr_bits;
  int mr_step = 1;  // pixels computed at a time: a tile of fewer takes as long
  // The rate relative to the other rows of the architecture. Its value makes choices right in all
  // layers that were measured. x86: by //benchmarks/kernels:choice_bench on a Xeon,
  // two of whose cycles are one of these; AVX2 and POPCNT on a Zen 3, too. ARM: never measured;
  // predicted by llvm-mca for a Cortex-A72, from benchmarks/arm64.
  int macs_per_cycle;
  // The rate on a Zen 4; 0 if it is the same.
  int macs_per_cycle_on_zen4 = 0;
  // The rate for a single pixel, which waits for filters from L2; 0 if it is the same.
  int macs_per_cycle_of_pixel = 0;
  int cycles_per_tile = 0;   // in addition for each tile, whatever its columns and depth
  int cycles_per_block = 0;  // in addition for each nr columns of a tile, whatever their depth
  // In addition for each run of a pixel's taps in such a block (Zen 4; ARM: not measured).
  double cycles_per_run = 0;
  RhsForm rhs = RhsForm::kWords;
  BgemmFn fn;

  constexpr size_t kr_words() const { return static_cast<size_t>(kr_bits) / kWordBits; }
};

// Returns all rows of this build, also those that this CPU lacks.
std::span<const BgemmRow> BgemmRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_TABLE_H_
