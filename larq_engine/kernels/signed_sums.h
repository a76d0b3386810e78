// The contract of layers whose weights are +-1 and whose inputs are not: for each output the sum of
// all inputs, each with the sign that the output's bit says (0 is plus, 1 is minus).
//
// Lanes are outputs, so that weights are read once, from first to last, and nothing is added up
// across lanes. One row for each ISA; tests/kernels/signed_sums_test.cc runs every row. Rows agree
// bit for bit:
//
//   int8:   of 65536 inputs at most, and exact. Inputs come as tables of sums: four inputs have 16
//           sums of those with a minus, which a shuffle of bytes looks up for 16 outputs.
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

// The signs of 32 inputs and all outputs of a block are 512 bits: that which has the sign of input
// i. Lanes of floats are words. Those of int8 are bytes, with 8 inputs of all outputs in a quarter.
static constexpr size_t FloatSignBit(size_t lane, size_t i) { return 32 * lane + i; }
static constexpr size_t Int8SignBit(size_t lane, size_t i) {
  return 8 * (i / 8 * kSignedLanes + lane) + i % 8;
}

// Sums of four inputs each, of 32: those of inputs 8 * q + 4 * half to 8 * q + 4 * half + 3 begin
// at 16 * q. Entry e is an offset, which leaves none below 0, and the inputs whose bits are set in
// e, of 10 bits: 5 here, 5 there, so that bytes hold eight of either added up.
struct alignas(64) Int8Tables {
  uint8_t low[2][64];
  uint8_t high[2][64];
};

inline constexpr int16_t kInt8TableOffset = 512;

// What the base of sums is beside the inputs: twice the offsets that they look up.
constexpr int32_t Int8TablesBase(size_t words) {
  return 2 * kInt8TableOffset * 8 * static_cast<int32_t>(words);
}

struct Int8SumsArgs {
  size_t blocks;
  size_t words;              // of 32 inputs each
  const uint32_t* signs;     // [blocks][words][kSignedLanes]
  const Int8Tables* tables;  // [words]; inputs that are only there to fill the last word are 0
  int32_t base;              // a sum is this, less twice what its signs look up
  int32_t* sums;             // [blocks][kSignedLanes]
};

struct FloatSumsArgs {
  size_t blocks;
  size_t words;
  const uint32_t* signs;
  const float* inputs;  // [32 * words]
  float* sums;
};

struct SignedSums {
  // Of inputs [32 * words], those of all rows alike; returns the base of the sums.
  int32_t (*make_tables)(const int8_t* inputs, size_t words, Int8Tables* tables);
  void (*of_int8)(const Int8SumsArgs& args);
  void (*of_float)(const FloatSumsArgs& args);
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_H_
