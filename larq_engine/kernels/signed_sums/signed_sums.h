// The contract of layers whose weights are +-1 and whose inputs have more bits. Each output is the
// sum of all inputs, each with the sign that the output's bit gives (0 is plus, 1 is minus).
//
// Lanes are outputs, so that weights are read once, from first to last, and nothing is added up
// across lanes. Each ISA has one row; tests/kernels/signed_sums_test.cc runs every row. Rows agree
// bit for bit:
//
//   int8:   exact, for at most 65536 inputs. Inputs come as tables of sums: for each four inputs
//           a table has the 16 possible sums of those with a minus, and a shuffle of bytes looks
//           these up for 16 outputs.
//   float:  inputs i, i + 1, i + 2 and i + 3, i a multiple of 4, are added up in order, and
//           their sum is added to the output's, which begins with 0. (Rows look the sum up by
//           four bits among 16.)
//
// This header has plain data and plain functions only: an ISA's file shares no code with others.
// Nothing is read or written outside the given arrays. `signs` is aligned to 64 bytes.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

inline constexpr size_t kSignedLanes = 16;  // outputs of a block

// The signs of 32 inputs and all outputs of a block are 512 bits. These functions return the number
// of the bit that has the sign of input i. For floats a lane is a word. For int8 a lane is a byte:
// a quarter of the bits has 8 inputs of all outputs.
static constexpr size_t FloatSignBit(size_t lane, size_t i) { return 32 * lane + i; }
static constexpr size_t Int8SignBit(size_t lane, size_t i) {
  return 8 * (i / 8 * kSignedLanes + lane) + i % 8;
}

// Sums of four inputs each, for 32 inputs. The sums of inputs 8 * q + 4 * half to 8 * q + 4 * half
// + 3 begin at 16 * q. Entry e is an offset, which keeps all sums from being negative, plus the
// inputs whose bits are set in e. An entry has 10 bits: the lower 5 are in `low` and the upper 5 in
// `high`, so that a byte holds the sum of eight of either.
struct alignas(64) Int8Tables {
  uint8_t low[2][64];
  uint8_t high[2][64];
};

inline constexpr int16_t kInt8TableOffset = 512;

// Returns the part of the base of sums that does not depend on the inputs: twice the offsets that
// the sums look up.
constexpr int32_t Int8TablesBase(size_t words) {
  return 2 * kInt8TableOffset * 8 * static_cast<int32_t>(words);
}

struct Int8SumsArgs {
  size_t blocks;
  size_t words;              // words of 32 inputs each
  const uint32_t* signs;     // [blocks][words][kSignedLanes]
  const Int8Tables* tables;  // [words]; inputs that are only there to fill the last word are 0
  int32_t base;              // a sum is the base less twice what its signs look up
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
  // Makes the tables of inputs [32 * words], which all blocks share; returns the base of the sums.
  int32_t (*make_tables)(const int8_t* inputs, size_t words, Int8Tables* tables);
  void (*of_int8)(const Int8SumsArgs& args);
  void (*of_float)(const FloatSumsArgs& args);
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_H_
