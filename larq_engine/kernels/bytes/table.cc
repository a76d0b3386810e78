#include "larq_engine/kernels/bytes/table.h"

#include "larq_engine/kernels/bytes/byte_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/bytes/arm64/byte_dotprod.h"
#include "larq_engine/kernels/bytes/arm64/byte_neon.h"
#endif
#if defined(__wasm_simd128__)
#include "larq_engine/kernels/bytes/wasm/byte_simd128.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/bytes/x86/byte_amxint8.h"
#include "larq_engine/kernels/bytes/x86/byte_avx2.h"
#include "larq_engine/kernels/bytes/x86/byte_avx512vnni.h"
#endif

namespace larq_engine {
namespace {

constexpr ByteRow kByteRows[] = {
    {.name = "bytes_i32_4x4x4_portable",
     .isa = Isa::kPortable,
     .mr = 4,
     .nr = 4,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 7,
     .macs_per_cycle = 1,
     .expanded_per_cycle = 1,
     .fn = BytesI32_4x4x4Portable,
     .expand = ExpandPortable},
#if defined(__x86_64__)
    {.name = "bytes_i32_4x16x4_avx2",
     .isa = Isa::kAvx2,
     .mr = 4,
     .nr = 16,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 6,
     .macs_per_cycle = 45,
     .expanded_per_cycle = 50,
     .cycles_per_tile = 50,
     .gather_cycles_per_tile = 50,
     .fn = BytesI32_4x16x4Avx2,
     .expand = ExpandAvx2},
    {.name = "bytes_i32_4x8x4_avx2",
     .isa = Isa::kAvx2,
     .mr = 4,
     .nr = 8,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 7,
     .macs_per_cycle = 26,
     .expanded_per_cycle = 50,
     .cycles_per_tile = 50,
     .gather_cycles_per_tile = 50,
     .fn = BytesI32_4x8x4Avx2,
     .expand = ExpandAvx2},
    {.name = "bytes_i32_12x32x4_avx512vnni",
     .isa = Isa::kAvx512vnni,
     .mr = 12,
     .nr = 32,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 7,
     .macs_per_cycle = 190,
     .macs_per_cycle_of_one = 95,
     .macs_per_cycle_of_pixel = 50,
     .expanded_per_cycle = 112,
     .fn = BytesI32_12x32x4Avx512vnni,
     .expand = ExpandAvx512vnni},
    {.name = "bytes_i32_32x16x64_amxint8",
     .isa = Isa::kAmxint8,
     .mr = 32,
     .nr = 16,
     .kr = 64,
     .in_planes = 8,
     .weight_planes = 7,
     // Two thirds of the rate in a loop, because AMX lowers the clock of all other code by an
     // eighth to a fifth.
     .macs_per_cycle = 600,
     .expanded_per_cycle = 80,
     .cycles_per_tile = 600,
     .gather_cycles_per_tile = 3200,
     .fn = BytesI32_32x16x64Amxint8,
     .expand = ExpandAmxint8},
#endif
#if defined(__aarch64__)
    // Rates are predicted for a Neoverse N1 (docs/lab.md).
    {.name = "bytes_i32_12x8x8_neon",
     .isa = Isa::kNeon,
     .mr = 12,
     .nr = 8,
     .kr = 8,
     .in_planes = 7,
     .weight_planes = 7,
     .left_is_signed = true,
     .macs_per_cycle = 8,
     .expanded_per_cycle = 7,
     .fn = BytesI32_12x8x8Neon,
     .expand = ExpandNeon},
    {.name = "bytes_i32_12x16x4_dotprod",
     .isa = Isa::kDotprod,
     .mr = 12,
     .nr = 16,
     .kr = 4,
     .in_planes = 7,
     .weight_planes = 7,
     .left_is_signed = true,
     .macs_per_cycle = 32,
     .expanded_per_cycle = 7,
     .fn = BytesI32_12x16x4Dotprod,
     .expand = ExpandNeon},
#endif
#if defined(__wasm_simd128__)
    {.name = "bytes_i32_4x4x4_simd128",
     .isa = Isa::kSimd128,
     .mr = 4,
     .nr = 4,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 7,
     .macs_per_cycle = 4,
     .expanded_per_cycle = 10,
     .fn = BytesI32_4x4x4Simd128,
     .expand = ExpandSimd128},
#endif
};

}  // namespace

std::span<const ByteRow> ByteRows() { return kByteRows; }

}  // namespace larq_engine
