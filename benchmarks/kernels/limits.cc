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
    {.name = "avx2 look-up",
     .isa = Isa::kAvx2,
     .macs_per_step = 1 * kAvx2MacsPerWord,
     .run = RunAvx2LookUp},
    {.name = "avx2 carry-save 2",
     .isa = Isa::kAvx2,
     .macs_per_step = 2 * kAvx2MacsPerWord,
     .run = RunAvx2CarrySave2},
    {.name = "avx2 carry-save 4",
     .isa = Isa::kAvx2,
     .macs_per_step = 4 * kAvx2MacsPerWord,
     .run = RunAvx2CarrySave4},
    {.name = "avx2 carry-save 8",
     .isa = Isa::kAvx2,
     .macs_per_step = 8 * kAvx2MacsPerWord,
     .run = RunAvx2CarrySave8},
    {.name = "avx512bw look-up",
     .isa = Isa::kAvx512bw,
     .macs_per_step = 1 * kAvx512bwMacsPerWord,
     .run = RunAvx512bwLookUp},
    {.name = "avx512bw carry-save 2",
     .isa = Isa::kAvx512bw,
     .macs_per_step = 2 * kAvx512bwMacsPerWord,
     .run = RunAvx512bwCarrySave2},
    {.name = "avx512bw carry-save 4",
     .isa = Isa::kAvx512bw,
     .macs_per_step = 4 * kAvx512bwMacsPerWord,
     .run = RunAvx512bwCarrySave4},
    {.name = "avx512bw carry-save 8",
     .isa = Isa::kAvx512bw,
     .macs_per_step = 8 * kAvx512bwMacsPerWord,
     .run = RunAvx512bwCarrySave8},
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
