// The loop of the bounds for vectors that cannot count bits, for the file of each vector length.
// Everything here is internal to the file that includes it.
//
// kWords words are added in carry-save digits before a vector is counted by look-up of nibbles: 1
// looks up every word. More words are fewer operations a word (8.0, 7.0, 6.5, 6.25 for AVX2) and
// more registers.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_CARRY_SAVE_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_CARRY_SAVE_H_

#include <cstdint>

namespace larq_engine::benchmarks {
namespace {

// Makes the compiler believe that the value is used and changed here, at the cost of no
// instruction.
template <typename Vector>
[[gnu::always_inline]] inline void Blur(Vector& value) {
  asm volatile("" : "+v"(value));
}

template <typename Isa>
struct Digits {
  typename Isa::Vector ones, twos, fours, bytes;
};

// Or the compiler would leave out what only the digits need.
template <typename Isa>
[[gnu::always_inline]] inline void BlurDigits(Digits<Isa>& digits) {
  Blur(digits.ones);
  Blur(digits.twos);
  Blur(digits.fours);
}

// The carry out of kWords words.
template <typename Isa, int kWords>
[[gnu::always_inline]] inline auto Carry(Digits<Isa>& digits, typename Isa::Vector (&left)[2],
                                         typename Isa::Vector right) {
  if constexpr (kWords == 1) {
    Blur(left[0]);
    return Isa::Xor(left[0], right);
  } else if constexpr (kWords == 2) {
    Blur(left[0]);
    Blur(left[1]);
    return Isa::AddTwoWords(digits.ones, left, right);
  } else {
    const auto a = Carry<Isa, kWords / 2>(digits, left, right);
    const auto b = Carry<Isa, kWords / 2>(digits, left, right);
    return Isa::CarrySave(kWords == 4 ? digits.twos : digits.fours, a, b);
  }
}

template <typename Isa, int kWords>
[[gnu::always_inline]] inline void CountWords(Digits<Isa>& digits, typename Isa::Vector (&left)[2],
                                              typename Isa::Vector right) {
  digits.bytes =
      Isa::AddBytes(digits.bytes, Isa::CountBytes(Carry<Isa, kWords>(digits, left, right)));
  Blur(digits.bytes);
}

// Four vectors of outputs in each step, which hide each other's latencies: with two, AVX-512BW
// makes 286 MACs a cycle on a Xeon and not 315.
inline constexpr int kCarrySaveVectors = 4;

template <typename Isa, int kWords>
void RunCarrySave(uint64_t steps) {
  typename Isa::Vector left[] = {Isa::Broadcast(3), Isa::Broadcast(4)};
  const auto right = Isa::Broadcast(5);
  Digits<Isa> digits[kCarrySaveVectors];
#pragma GCC unroll 4
  for (auto& of : digits) of = {right, right, right, right};
  for (uint64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 4
    for (auto& of : digits) CountWords<Isa, kWords>(of, left, right);
  }
#pragma GCC unroll 4
  for (auto& of : digits) BlurDigits(of);
}

}  // namespace
}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_CARRY_SAVE_H_
