#include "larq_engine/kernels/signed_sums/select.h"

#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {
namespace {

// Limits beyond which the host is faster. It reads the weights once for several input rows. It also
// computes a small layer in less time than a call of the plug-in between its own layers takes.
// A host that uses AMX computes three rows of int8 as fast as the engine.
constexpr int64_t kMostRows = 2;
constexpr int64_t kMostRowsOfNeon = 1;  // not measured
constexpr int64_t kLeastWeights = 1 << 16;

}  // namespace

const SignedSumsRow& SelectSignedSums(CpuFeatures cpu) { return HighestRow(SignedSumsRows(), cpu); }

bool PrefersSignedSums(const SignedSumsRow& row, const SignedDenseSize& size) {
  if (row.isa == Isa::kPortable || size.depth * size.units < kLeastWeights) return false;
  // With AVX2 the engine is faster for any number of int8 rows, although it computes one after the
  // other.
  if (row.isa == Isa::kAvx2 && size.is_int8) return true;
  return size.rows <= (row.isa == Isa::kNeon ? kMostRowsOfNeon : kMostRows);
}

}  // namespace larq_engine
