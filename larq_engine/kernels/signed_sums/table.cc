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

}  // namespace

std::span<const SignedSumsRow> SignedSumsRows() { return kSignedSumsRows; }

}  // namespace larq_engine
