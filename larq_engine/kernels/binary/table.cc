#include "larq_engine/kernels/binary/table.h"

#include <algorithm>

#include "larq_engine/kernels/binary/bgemm_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/binary/arm64/bgemm_dotprod.h"
#include "larq_engine/kernels/binary/arm64/bgemm_neon.h"
#include "larq_engine/kernels/binary/arm64/bgemm_sme2.h"
#endif
#if defined(__wasm_simd128__)
#include "larq_engine/kernels/binary/wasm/bgemm_simd128.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/binary/x86/bgemm_avx2.h"
#include "larq_engine/kernels/binary/x86/bgemm_avx512bw.h"
#include "larq_engine/kernels/binary/x86/bgemm_avx512vpopcntdq.h"
#include "larq_engine/kernels/binary/x86/bgemm_popcnt.h"
#endif

namespace larq_engine {
namespace {

constexpr BgemmRow kBgemmRows[] = {
    {.name = "bgemm_i32_4x2x64_portable",
     .isa = Isa::kPortable,
     .mr = 4,
     .nr = 2,
     .kr_bits = 64,
     .macs_per_cycle = 16,
     .cycles_per_run = 2,
     .fn = BgemmI32_4x2x64Portable},
#if defined(__x86_64__)
    {.name = "bgemm_i32_4x2x64_popcnt",
     .isa = Isa::kPopcnt,
     .mr = 4,
     .nr = 2,
     .kr_bits = 64,
     .macs_per_cycle = 82,
     // It reaches 107 in 3x3 taps, but beside AVX2 a dense layer of 784 inputs then loses 14 %.
     .macs_per_cycle_on_zen4 = 95,
     .cycles_per_block = 14,  // with taps of 64 bits a Zen 3 reaches only 15 MACs a cycle
     .cycles_per_run = 2,
     .fn = BgemmI32_4x2x64Popcnt},
    {.name = "bgemm_i32_8x32x32_avx2",
     .isa = Isa::kAvx2,
     .mr = 8,
     .nr = 32,
     .kr_bits = 32,
     .mr_step = 2,
     .macs_per_cycle = 400,
     .cycles_per_tile = 100,
     .cycles_per_run = 3,
     .rhs = RhsForm::kNibbles,
     .fn = BgemmI32_8x32x32Avx2},
    {.name = "bgemm_i32_2x32x32_avx2",
     .isa = Isa::kAvx2,
     .mr = 2,
     .nr = 32,
     .kr_bits = 32,
     .mr_step = 2,
     .macs_per_cycle = 200,
     .cycles_per_tile = 100,
     .cycles_per_run = 3,
     .rhs = RhsForm::kBytes,
     .fn = BgemmI32_2x32x32Avx2},
    {.name = "bgemm_i32_8x64x32_avx512bw",
     .isa = Isa::kAvx512bw,
     .mr = 8,
     .nr = 64,
     .kr_bits = 32,
     .mr_step = 2,
     .macs_per_cycle = 490,
     .cycles_per_tile = 240,
     .cycles_per_run = 5,
     .rhs = RhsForm::kNibbles,
     .fn = BgemmI32_8x64x32Avx512bw},
    {.name = "bgemm_i32_2x64x32_avx512bw",
     .isa = Isa::kAvx512bw,
     .mr = 2,
     .nr = 64,
     .kr_bits = 32,
     .mr_step = 2,
     .macs_per_cycle = 240,
     .cycles_per_tile = 240,
     .cycles_per_run = 5,
     .rhs = RhsForm::kBytes,
     .fn = BgemmI32_2x64x32Avx512bw},
    {.name = "bgemm_i32_6x32x32_avx512vpopcntdq",
     .isa = Isa::kAvx512vpopcntdq,
     .mr = 6,
     .nr = 32,
     .kr_bits = 32,
     .macs_per_cycle = 656,
     .macs_per_cycle_of_pixel = 420,  // dense layers of a Zen 4 reach no more
     .cycles_per_tile = 14,           // dense layers of 10 outputs take these in addition
     .cycles_per_run = 1.2,
     .fn = BgemmI32_6x32x32Avx512vpopcntdq},
#endif
#if defined(__aarch64__)
    {.name = "bgemm_i32_4x16x64_neon",
     .isa = Isa::kNeon,
     .mr = 4,
     .nr = 16,
     .kr_bits = 64,
     .macs_per_cycle = 81,  // predicted 82; UADALP is slow on other cores
     .fn = BgemmI32_4x16x64Neon},
    {.name = "bgemm_i32_4x16x128_neon",
     .isa = Isa::kNeon,
     .mr = 4,
     .nr = 16,
     .kr_bits = 128,
     .macs_per_cycle = 84,  // predicted 85; see above
     .fn = BgemmI32_4x16x128Neon},
    {.name = "bgemm_i32_4x16x64_dotprod",
     .isa = Isa::kDotprod,
     .mr = 4,
     .nr = 16,
     .kr_bits = 64,
     .macs_per_cycle = 82,
     .fn = BgemmI32_4x16x64Dotprod},
    {.name = "bgemm_i32_4x16x128_dotprod",
     .isa = Isa::kDotprod,
     .mr = 4,
     .nr = 16,
     .kr_bits = 128,
     .macs_per_cycle = 85,
     .fn = BgemmI32_4x16x128Dotprod},
    // Not timed on any hardware: instructions were counted, one a cycle, with vectors of 512 bits.
    // For 3x3 taps of 64 to 512 channels, a filter row being one run, the number is right to an
    // eighth.
    {.name = "bgemm_i32_32x32x32_sme2",
     .isa = Isa::kSme2,
     .mr = 32,
     .nr = 32,
     .kr_bits = 32,
     .macs_per_cycle = 3000,
     .cycles_per_tile = 1500,
     .fn = BgemmI32_32x32x32Sme2},
#endif
#if defined(__wasm_simd128__)
    // V8 on a Zen 3: 2.5 times the portable row, in units of the latter.
    {.name = "bgemm_i32_8x16x32_simd128",
     .isa = Isa::kSimd128,
     .mr = 8,
     .nr = 16,
     .kr_bits = 32,
     .mr_step = 2,
     .macs_per_cycle = 45,
     .cycles_per_tile = 200,
     .cycles_per_run = 3,
     .rhs = RhsForm::kNibbles,
     .fn = BgemmI32_8x16x32Simd128},
#endif
};

static_assert(std::all_of(std::begin(kBgemmRows), std::end(kBgemmRows), [](const BgemmRow& row) {
  return row.mr_step >= 1 && row.mr % row.mr_step == 0;
}));

}  // namespace

std::span<const BgemmRow> BgemmRows() { return kBgemmRows; }

}  // namespace larq_engine
