#include "larq_engine/kernels/floats/select.h"

#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {

const FloatRow& SelectFloats(CpuFeatures cpu) { return HighestRow(FloatRows(), cpu); }

double FloatCycles(const FloatRow& row, const FloatConv2dSpec& spec) {
  return static_cast<double>(spec.depth() * spec.out_channels) / row.macs_per_cycle;
}

bool PrefersFloats(const FloatRow& row) { return row.isa != Isa::kPortable; }

}  // namespace larq_engine
