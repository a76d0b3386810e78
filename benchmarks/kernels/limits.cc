#include "benchmarks/kernels/limits.h"

#if defined(__x86_64__)
#include "benchmarks/kernels/limit_popcnt.h"
#endif

namespace larq_engine::benchmarks {
namespace {

#if defined(__x86_64__)
constexpr Limit kLimits[] = {
    {.name = "popcnt", .isa = Isa::kPopcnt, .macs_per_step = kPopcntMacs, .run = RunPopcnt},
};
#else
constexpr std::span<const Limit> kLimits;
#endif

}  // namespace

std::span<const Limit> Limits() { return kLimits; }

}  // namespace larq_engine::benchmarks
