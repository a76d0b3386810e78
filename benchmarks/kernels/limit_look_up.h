// Defines the loop that measures the limit of vectors that cannot count bits, for the file of each
// vector length. Everything here is internal to the file that includes it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_LOOK_UP_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_LOOK_UP_H_

#include <cstdint>

namespace larq_engine::benchmarks {
namespace {

// Makes the optimizer believe that the value is used and changed here, without an instruction.
template <typename Vector>
[[gnu::always_inline]] inline void HideFromOptimizer(Vector& value) {
  asm volatile("" : "+v"(value));
}

inline constexpr int kLookUps = 3;  // lookups that are added before their sum goes into others

// The bit counts of a vector of filters for two pixels, added up with the eight operations that
// rows take.
template <typename Isa>
struct Sums {
  using Vector = typename Isa::Vector;
  Vector lanes;
  Vector shifted;

  [[gnu::always_inline]] void Add(Vector (&table)[kLookUps], Vector filters) {
    Vector counts = Isa::LookUp(table[0], filters);
#pragma GCC unroll 3
    for (int i = 1; i < kLookUps; ++i) {
      counts = Isa::AddBytes(counts, Isa::LookUp(table[i], filters));
    }
    lanes = Isa::AddBytes(lanes, counts);
    shifted = Isa::AddBytes(shifted, Isa::ShiftDown(counts));
    HideFromOptimizer(lanes);
    HideFromOptimizer(shifted);
    // Without this, the compiler would use these counts for the next vector, too.
#pragma GCC unroll 3
    for (Vector& row : table) HideFromOptimizer(row);
  }
};

// Number of vectors of filters in each step: four hide each other's latencies.
inline constexpr int kLookUpVectors = 4;

template <typename Isa>
void RunLookUp(uint64_t steps) {
  typename Isa::Vector table[kLookUps] = {Isa::Bytes(1), Isa::Bytes(2), Isa::Bytes(3)};
  const auto filters = Isa::Bytes(5);
  Sums<Isa> sums[kLookUpVectors];
#pragma GCC unroll 4
  for (auto& sum : sums) sum = {filters, filters};
  for (uint64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 4
    for (auto& sum : sums) sum.Add(table, filters);
  }
}

}  // namespace
}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_LOOK_UP_H_
