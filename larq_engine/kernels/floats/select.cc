#include "larq_engine/kernels/floats/select.h"

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {

const FloatRow& SelectFloats(CpuFeatures cpu) { return HighestRow(FloatRows(), cpu); }

double FloatCycles(const FloatRow& row, const FloatConv2dSpec& spec) {
  // Each group computes whole vectors.
  const int64_t filled_up =
      static_cast<int64_t>(RoundUp(static_cast<size_t>(spec.group_out_channels()), kFloatLanes));
  const int64_t columns = spec.groups == 1 ? spec.out_channels : spec.groups * filled_up;
  return static_cast<double>(spec.depth() * columns) / row.macs_per_cycle;
}

bool PrefersFloats(const FloatRow& row) { return IsKnownToKeepUpWithHosts(row.isa); }

}  // namespace larq_engine
