// Declares upper bounds of this core, which are measured: the fastest loop of xor, count and add
// that never leaves the registers, for each way of counting bits. A kernel's rate divided by its
// bound tells what is left to gain. Each ISA that has rows beyond the portable ones has one bound:
// another file, another line in limits.cc.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMITS_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMITS_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine::benchmarks {

struct Limit {
  const char* name;
  Isa isa;
  uint64_t macs_per_step;
  void (*run)(uint64_t steps);
};

// Returns all bounds of this build, for any CPU.
std::span<const Limit> Limits();

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMITS_H_
