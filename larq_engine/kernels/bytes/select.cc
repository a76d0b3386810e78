#include "larq_engine/kernels/bytes/select.h"

#include <limits>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {
namespace {

constexpr int kPlanes = 7;  // planes of any int8 except -128

// XNNPACK's kernels compute eight channels of a tap together, so for 8 channels they are as fast as
// these kernels. They gather nothing if there is one tap, and take three quarters of the time for
// 1x1 filters of 3 to 16 channels.
constexpr int64_t kMostChannels = 4;
constexpr int64_t kLeastTaps = 2;

}  // namespace

double Int8Cycles(const ByteRow& row, const Int8Conv2dSpec& spec) {
  const size_t depth = RoundUp(static_cast<size_t>(spec.depth()), static_cast<size_t>(row.kr));
  const size_t columns =
      RoundUp(static_cast<size_t>(spec.out_channels), static_cast<size_t>(row.nr));
  return static_cast<double>(depth * columns) / row.macs_per_cycle +
         static_cast<double>(row.gather_cycles_per_tile) / row.mr;
}

const ByteRow& SelectInt8(CpuFeatures cpu, const Int8Conv2dSpec& spec, std::string_view forced) {
  const ByteRow* const named = FindRow(ByteRows(), forced);
  if (named != nullptr && named->weight_planes >= kPlanes && cpu.Has(named->isa)) return *named;
  return *CheapestRow(ByteRows(), cpu, kAutoKernel, [&](const ByteRow& row) {
    return row.weight_planes < kPlanes ? std::numeric_limits<double>::infinity()
                                       : Int8Cycles(row, spec);
  });
}

bool PrefersInt8(const ByteRow& row, const Int8Conv2dSpec& spec) {
  return IsKnownToKeepUpWithHosts(row.isa) && spec.in_channels <= kMostChannels &&
         spec.window.taps() >= kLeastTaps;
}

}  // namespace larq_engine
