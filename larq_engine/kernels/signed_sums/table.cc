#include "larq_engine/kernels/signed_sums/table.h"

#include "larq_engine/kernels/signed_sums/signed_sums_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/signed_sums/arm64/signed_sums_neon.h"
#endif
#if defined(__wasm_simd128__)
#include "larq_engine/kernels/signed_sums/wasm/signed_sums_simd128.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx2.h"
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx512bw.h"
#endif

namespace larq_engine {
namespace {

constexpr SignedSumsRow kSignedSumsRows[] = {
    {.name = "signed_sums_portable", .isa = Isa::kPortable, .sums = &kSignedSumsPortable},
#if defined(__aarch64__)
    {.name = "signed_sums_neon", .isa = Isa::kNeon, .sums = &kSignedSumsNeon},
#endif
#if defined(__wasm_simd128__)
    {.name = "signed_sums_simd128", .isa = Isa::kSimd128, .sums = &kSignedSumsSimd128},
#endif
#if defined(__x86_64__)
    {.name = "signed_sums_avx2", .isa = Isa::kAvx2, .sums = &kSignedSumsAvx2},
    {.name = "signed_sums_avx512bw", .isa = Isa::kAvx512bw, .sums = &kSignedSumsAvx512bw},
#endif
};

}  // namespace

std::span<const SignedSumsRow> SignedSumsRows() { return kSignedSumsRows; }

}  // namespace larq_engine
