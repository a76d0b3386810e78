#include "larq_engine/kernels/floats/table.h"

#include "larq_engine/kernels/floats/float_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/floats/arm64/float_neon.h"
#endif
#if defined(__wasm_simd128__)
#include "larq_engine/kernels/floats/wasm/float_simd128.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/floats/x86/float_avx2.h"
#include "larq_engine/kernels/floats/x86/float_avx512bw.h"
#endif

namespace larq_engine {
namespace {

constexpr FloatRow kFloatRows[] = {
    {.name = "floats_1x16_portable",
     .isa = Isa::kPortable,
     .nr = 16,
     .macs_per_cycle = 0.25,
     .of_pixels = FloatPixels16Portable,
     .of_channels = FloatChannelsPortable},
#if defined(__x86_64__)
    {.name = "floats_6x16_avx2",
     .isa = Isa::kAvx2,
     .nr = 16,
     .macs_per_cycle = 14,
     .of_pixels = FloatPixels16Avx2,
     .of_channels = FloatChannelsAvx2},
    {.name = "floats_6x64_avx512bw",
     .isa = Isa::kAvx512bw,
     .nr = 64,
     .macs_per_cycle = 20,
     .of_pixels = FloatPixels64Avx512bw,
     .of_channels = FloatChannelsAvx512bw},
#endif
#if defined(__aarch64__)
    {.name = "floats_6x16_neon",
     .isa = Isa::kNeon,
     .nr = 16,
     .macs_per_cycle = 8,  // predicted for a Neoverse N1 (docs/lab.md)
     .of_pixels = FloatPixels16Neon,
     .of_channels = FloatChannelsNeon},
#endif
#if defined(__wasm_simd128__)
    {.name = "floats_2x16_simd128",
     .isa = Isa::kSimd128,
     .nr = 16,
     .macs_per_cycle = 0.5,
     .of_pixels = FloatPixels16Simd128,
     .of_channels = FloatChannelsSimd128},
#endif
};

}  // namespace

std::span<const FloatRow> FloatRows() { return kFloatRows; }

}  // namespace larq_engine
