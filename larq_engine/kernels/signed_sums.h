// The contract of layers whose weights are +-1 and whose inputs are not: for each output the sum of
// all inputs, each with the sign that the output's bit says (0 is plus, 1 is minus).
//
// Lanes are outputs, so that weights are read once, from first to last, and nothing is added up
// across lanes. One row for each ISA; tests/kernels/signed_sums_test.cc runs every row. Rows agree
// bit for bit:
//
//   int8:   of 65536 inputs at most, so that even eight times a sum is a number that 32 bits hold.
//   float:  inputs i, i + 1, i + 2 and i + 3, i a multiple of 4, are added up in order, and
//           that sum to the output's, which begins with 0. (Rows look it up: four bits, 16 sums.)
//
// Plain data and plain functions: an ISA's file shares no code with others. Nothing is read or
// written outside of what is given. `signs` is aligned to 64 bytes.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

inline constexpr size_t kSignedLanes = 16;  // outputs of a block

// The bit of a word that has the sign of its input i. A float's is bit i. An int8's is that which
// leaves the signs of four inputs in a row in the four bytes of `word & (0x01010101 << j)`: an ISA
// multiplies four bytes and adds them up at once.
static constexpr size_t FloatSignBit(size_t i) { return i; }
static constexpr size_t Int8SignBit(size_t i) { return i % 4 * 8 + i / 4; }

template <typename Input, typename Sum>
struct SignedSumsArgs {
  size_t blocks;
  size_t words;           // of 32 inputs each
  const uint32_t* signs;  // [blocks][words][kSignedLanes]
  const Input* inputs;    // [32 * words]; those that are only there to fill the last word are 0
  Sum* sums;              // [blocks][kSignedLanes]
};

using Int8SumsArgs = SignedSumsArgs<int8_t, int32_t>;
using FloatSumsArgs = SignedSumsArgs<float, float>;

struct SignedSums {
  void (*of_int8)(const Int8SumsArgs& args);
  void (*of_float)(const FloatSumsArgs& args);
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_H_
