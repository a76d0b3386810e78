#include "larq_engine/kernels/signed_tables.h"

namespace larq_engine {
namespace {

constexpr size_t kEntries = 16;
constexpr int16_t kOffset = 512;  // leaves no entry below 0
constexpr int kTablesOfWord = 8;

// Sixteen entries at once, as masks and inputs of 16 bits: a compiler makes vectors of them.
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

// Each step of 16 bits: a compiler would compute a longer expression in 32.
inline void AddMasked(int16_t* __restrict sums, int16_t input, const int16_t* masks) {
  for (size_t e = 0; e < kEntries; ++e) {
    sums[e] = static_cast<int16_t>(sums[e] + static_cast<int16_t>(input & masks[e]));
  }
}

inline void MakeTable(const int8_t* four, uint8_t* __restrict low, uint8_t* __restrict high) {
  int16_t sums[kEntries];
  for (int16_t& sum : sums) sum = kOffset;
  for (size_t i = 0; i < 4; ++i) AddMasked(sums, four[i], kMasks.of_input[i]);
  for (size_t e = 0; e < kEntries; ++e) low[e] = static_cast<uint8_t>(sums[e] & 31);
  for (size_t e = 0; e < kEntries; ++e) {
    high[e] = static_cast<uint8_t>(static_cast<uint16_t>(sums[e]) >> 5);
  }
}

}  // namespace

int32_t MakeInt8Tables(const int8_t* inputs, size_t words, Int8Tables* tables) {
  int32_t all = 0;
  for (size_t w = 0; w < words; ++w, inputs += 32) {
    for (size_t i = 0; i < 32; ++i) all += inputs[i];
    for (size_t q = 0; q < 4; ++q) {
      for (size_t half = 0; half < 2; ++half) {
        MakeTable(inputs + 8 * q + 4 * half, tables[w].low[half] + kEntries * q,
                  tables[w].high[half] + kEntries * q);
      }
    }
  }
  return all + 2 * kOffset * kTablesOfWord * static_cast<int32_t>(words);
}

}  // namespace larq_engine
