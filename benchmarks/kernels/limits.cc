#include "benchmarks/kernels/limits.h"

#if defined(__x86_64__)
#include "benchmarks/kernels/limit_avx2.h"
#include "benchmarks/kernels/limit_avx512bw.h"
#include "benchmarks/kernels/limit_avx512vpopcntdq.h"
#include "benchmarks/kernels/limit_popcnt.h"
#endif

namespace larq_engine::benchmarks {
namespace {

#if defined(__x86_64__)
constexpr Limit kLimits[] = {
    {.name = "popcnt", .isa = Isa::kPopcnt, .macs_per_step = kPopcntMacs, .run = RunPopcnt},
    {.name = "avx2", .isa = Isa::kAvx2, .macs_per_step = kAvx2Macs, .run = RunAvx2},
    {.name = "avx512bw", .isa = Isa::kAvx512bw, .macs_per_step = kAvx512bwMacs, .run = RunAvx512bw},
    {.name = "avx512vpopcntdq",
     .isa = Isa::kAvx512vpopcntdq,
     .macs_per_step = kAvx512vpopcntdqMacs,
     .run = RunAvx512vpopcntdq},
};
#else
constexpr std::span<const Limit> kLimits;
#endif

}  // namespace

std::span<const Limit> Limits() { return kLimits; }

}  // namespace larq_engine::benchmarks
