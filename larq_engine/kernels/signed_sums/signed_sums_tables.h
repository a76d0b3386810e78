// Makes the tables of signed_sums.h in plain loops, which a compiler vectorises. The functions are
// internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_TABLES_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_TABLES_H_

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {
namespace {

constexpr size_t kEntries = 16;

// Masks of 16 bits for all sixteen entries, by which an input is added to some of them.
struct Masks {
  int16_t of_input[4][kEntries];
};

constexpr Masks MakeMasks() {
  Masks masks = {};
  for (size_t i = 0; i < 4; ++i) {
    for (size_t e = 0; e < kEntries; ++e) masks.of_input[i][e] = (e >> i & 1) != 0 ? -1 : 0;
  }
  return masks;
}

constexpr Masks kMasks = MakeMasks();

// Each step is computed in 16 bits; a compiler would compute a longer expression in 32.
inline void AddMasked(int16_t* __restrict sums, int16_t input, const int16_t* masks) {
  for (size_t e = 0; e < kEntries; ++e) {
    sums[e] = static_cast<int16_t>(sums[e] + static_cast<int16_t>(input & masks[e]));
  }
}

inline void MakeTable(const int8_t* four, uint8_t* __restrict low, uint8_t* __restrict high) {
  int16_t sums[kEntries];
  for (int16_t& sum : sums) sum = kInt8TableOffset;
  for (size_t i = 0; i < 4; ++i) AddMasked(sums, four[i], kMasks.of_input[i]);
  for (size_t e = 0; e < kEntries; ++e) low[e] = static_cast<uint8_t>(sums[e] & 31);
  for (size_t e = 0; e < kEntries; ++e) {
    high[e] = static_cast<uint8_t>(static_cast<uint16_t>(sums[e]) >> 5);
  }
}

inline int32_t MakeInt8TablesInLoops(const int8_t* inputs, size_t words, Int8Tables* tables) {
  int32_t base = Int8TablesBase(words);
  for (size_t w = 0; w < words; ++w, inputs += 32) {
    for (size_t i = 0; i < 32; ++i) base += inputs[i];
    for (size_t q = 0; q < 4; ++q) {
      for (size_t half = 0; half < 2; ++half) {
        MakeTable(inputs + 8 * q + 4 * half, tables[w].low[half] + kEntries * q,
                  tables[w].high[half] + kEntries * q);
      }
    }
  }
  return base;
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_TABLES_H_
