#include "larq_engine/kernels/signed_sums/table.h"

#include "larq_engine/kernels/signed_sums/signed_sums_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/signed_sums/arm64/signed_sums_neon.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx2.h"
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx512bw.h"
#endif

namespace larq_engine {
namespace {

constexpr SignedSumsRow kSignedSumsRows[] = {
    {"signed_sums_portable", Isa::kPortable, &kSignedSumsPortable},
#if defined(__aarch64__)
    {"signed_sums_neon", Isa::kNeon, &kSignedSumsNeon},
#endif
#if defined(__x86_64__)
    {"signed_sums_avx2", Isa::kAvx2, &kSignedSumsAvx2},
    {"signed_sums_avx512bw", Isa::kAvx512bw, &kSignedSumsAvx512bw},
#endif
};

// A host reads the weights once for several input rows. It also computes a small layer in less time
// than it takes to call a plug-in's layer between its own. With AMX in the host, three rows of int8
// take as long as the host's.
constexpr int64_t kMostRows = 2;
constexpr int64_t kMostRowsOfNeon = 1;  // not measured
constexpr int64_t kLeastWeights = 1 << 16;

}  // namespace

std::span<const SignedSumsRow> SignedSumsRows() { return kSignedSumsRows; }

const SignedSumsRow& SelectSignedSums(CpuFeatures cpu) {
  const SignedSumsRow* best = &SignedSumsRows().front();
  for (const SignedSumsRow& row : SignedSumsRows()) {
    if (cpu.Has(row.isa)) best = &row;
  }
  return *best;
}

bool PrefersSignedSums(const SignedSumsRow& row, const SignedDenseSize& size) {
  if (row.isa == Isa::kPortable || size.depth * size.units < kLeastWeights) return false;
  // With AVX2, hosts multiply int8 more slowly than the engine looks up one row after the other.
  if (row.isa == Isa::kAvx2 && size.is_int8) return true;
  return size.rows <= (row.isa == Isa::kNeon ? kMostRowsOfNeon : kMostRows);
}

}  // namespace larq_engine
