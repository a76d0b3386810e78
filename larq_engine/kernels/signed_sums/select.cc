#include "larq_engine/kernels/signed_sums/select.h"

#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {
namespace {

// A host reads the weights once for several input rows. It also computes a small layer in less time
// than it takes to call a plug-in's layer between its own. With AMX in the host, three rows of int8
// take as long as the host's.
constexpr int64_t kMostRows = 2;
constexpr int64_t kMostRowsOfNeon = 1;  // not measured
constexpr int64_t kLeastWeights = 1 << 16;

}  // namespace

const SignedSumsRow& SelectSignedSums(CpuFeatures cpu) { return HighestRow(SignedSumsRows(), cpu); }

bool PrefersSignedSums(const SignedSumsRow& row, const SignedDenseSize& size) {
  if (row.isa == Isa::kPortable || size.depth * size.units < kLeastWeights) return false;
  // With AVX2, hosts multiply int8 more slowly than the engine looks up one row after the other.
  if (row.isa == Isa::kAvx2 && size.is_int8) return true;
  return size.rows <= (row.isa == Isa::kNeon ? kMostRowsOfNeon : kMostRows);
}

}  // namespace larq_engine
