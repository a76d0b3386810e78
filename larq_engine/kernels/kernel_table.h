// The one list of micro-kernels. Adding one: its .cc, its row here, its line in BUILD, and one
// expectation in tests/kernels/select_test.cc. Dispatch, tests and benchmarks follow.
#ifndef LARQ_ENGINE_KERNELS_KERNEL_TABLE_H_
#define LARQ_ENGINE_KERNELS_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "larq_engine/kernels/bgemm.h"
#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/cpu_features.h"

namespace larq_engine {

struct BgemmRow {
  const char* name;  // bgemm_<accumulator>_<mr>x<nr>x<kr_bits>_<isa>
  Isa isa;
  int mr;
  int nr;
  int kr_bits;
  int mr_step = 1;  // pixels that are computed at a time: a tile of fewer takes as long
  // Beside the other rows of its architecture: what makes choices right where layers were measured.
  // x86: by //benchmarks/kernels:choice_bench and bits_bench on a Xeon, of which two cycles are one
  // of these; AVX2 and POPCNT on a Zen 3, too. ARM: never measured; what llvm-mca predicts for a
  // Cortex-A72, from benchmarks/arm64.
  int macs_per_cycle;
  int macs_per_cycle_of_pixel = 0;  // of one alone, which waits for filters from L2; 0: the same
  int cycles_per_tile = 0;          // that a tile takes besides, whatever its columns and depth
  int cycles_per_block = 0;         // and each nr columns of it, whatever their depth
  double cycles_per_run = 0;  // that a pixel's run of taps takes in each (Zen 4; ARM: not measured)
  RhsForm rhs = RhsForm::kWords;
  BgemmFn fn;

  constexpr size_t kr_words() const { return static_cast<size_t>(kr_bits) / kWordBits; }
};

// The rows that this build holds, for whatever CPU.
std::span<const BgemmRow> BgemmRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_KERNEL_TABLE_H_
