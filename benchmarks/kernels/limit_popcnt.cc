#include "benchmarks/kernels/limit_popcnt.h"

#if !defined(__POPCNT__)
#error "this file is built with the flags of ISA_COPTS[\"popcnt\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

// Makes the optimizer believe that the value is used and changed here, without an instruction.
inline void HideFromOptimizer(uint64_t& value) { asm volatile("" : "+r"(value)); }

}  // namespace

void RunPopcnt(uint64_t steps) {
  uint64_t left[4] = {1, 2, 3, 4};
  uint64_t right[2] = {5, 6};
  uint64_t count[4] = {};
  for (uint64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      HideFromOptimizer(right[j]);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        HideFromOptimizer(left[i]);
        count[i] += static_cast<uint64_t>(__builtin_popcountll(left[i] ^ right[j]));
        HideFromOptimizer(
            count[i]);  // keeps it in a general register: gcc 12 would move pairs to vectors
      }
    }
  }
}

}  // namespace larq_engine::benchmarks
