// The product by look-up, written once for all ISAs that have it. Everything here is internal to
// the file that includes it: a copy compiled with ISA flags must never be merged with the copy of
// another ISA.
//
// Four channels of a pixel differ from those of a filter in 0 to 4 bits. A table of 16 has this
// count for each nibble that the filter may have there. One shuffle looks up a vector of filters in
// it, one byte for each.
//
// A table serves two pixels: its bytes are the first one's count plus 16 times the second's. Three
// look-ups are added before a nibble could overflow (3 times 4 is 12), and each of these sums goes
// into two others: unchanged, and with its 16-bit lanes shifted by a nibble. Their bytes wrap, but
// both together determine all four counts of a lane, of two filters and two pixels (Sums::Store).
// So a vector of 32 filters makes 768 MACs with 8 operations; adding words in binary, bit by bit,
// took 19 with AVX2 and 11 with the vpternlog of AVX-512 for the same MACs.
//
// An Isa has kSums lanes of 32 bits, and registers for two pairs of pixels with kMostVectorsOfTwo
// vectors of filters. It offers Zero, Table (which copies 16 bytes to all parts of 16), LookUp and
//
//   AddBytes(a, b)                 a + b, byte by byte
//   AddLanes(a, b)                 the same in 16-bit lanes, as are SubtractLanes,
//   ShiftUp(v), ShiftDown<n>(v)    by 4 and n bits, and
//   LowBytes(v)                    the low byte of each lane
//   LowNibbles(v)                  the low nibble of each byte
//   StoreOffsets<kWords>(first, second, to)
//                                  stores the tables of the nibbles of 1, 2 or 4 words of two
//                                  pixels, in their order
//   Keep(v)                        makes the compiler keep v in a register here
//   StoreSums(counts, columns, add, acc)
//                                  writes the first `columns` of 16-bit counts, or all kSums if
//                                  there are more, as 32-bit sums; adds to acc if `add`
#ifndef LARQ_ENGINE_KERNELS_BINARY_BGEMM_LOOK_UP_H_
#define LARQ_ENGINE_KERNELS_BINARY_BGEMM_LOOK_UP_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {
namespace {

constexpr size_t kNibbles = 8;  // the steps that a word takes
constexpr size_t kMostVectors = 4;

// The number of words that are counted before they are added to the result: their counts fit 16
// bits.
constexpr size_t kWordsAtOnce = 252;
constexpr size_t kPairSteps = kWordsAtOnce * kNibbles;

inline size_t Least(size_t a, size_t b) { return a < b ? a : b; }

struct Tables {
  alignas(64) uint8_t counts[256][16];
};

constexpr unsigned Ones(unsigned nibble) { return nibble == 0 ? 0 : nibble % 2 + Ones(nibble / 2); }

constexpr Tables MakeTables() {
  Tables tables{};
  for (unsigned nibbles = 0; nibbles < 256; ++nibbles) {
    for (unsigned filter = 0; filter < 16; ++filter) {
      const unsigned first = Ones(nibbles % 16 ^ filter);
      const unsigned second = Ones(nibbles / 16 ^ filter);
      tables.counts[nibbles][filter] = static_cast<uint8_t>(first + 16 * second);
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

// The position of a table, in bytes. It is stored for each step of a pair of pixels, because an
// address may scale a register by at most 8, and a table is 16 bytes.
using TableOffset = uint16_t;

// Stores the tables of `words` words of two pixels.
template <typename Isa>
void OffsetsOfRun(const uint32_t* first, const uint32_t* second, size_t words, TableOffset* to) {
  size_t k = 0;
  for (; k + 4 <= words; k += 4) {
    Isa::template StoreOffsets<4>(first + k, second + k, to + k * kNibbles);
  }
  if (words % 4 >= 2) {
    Isa::template StoreOffsets<2>(first + k, second + k, to + k * kNibbles);
    k += 2;
  }
  if (k < words) Isa::template StoreOffsets<1>(first + k, second + k, to + k * kNibbles);
}

// Finds the tables of `words` words, from `word` on, of pixels i and i + 1. If the number of pixels
// is odd, the last one is paired with itself.
template <typename Isa, size_t kTilePixels>
void FindTables(const BgemmArgs& args, size_t i, size_t word, size_t words, TableOffset* to) {
  const ptrdiff_t* runs = args.lhs + word / args.segment_words * kTilePixels + i;
  const size_t to_second = i + 1 < args.m ? 1 : 0;
  for (size_t skipped = word % args.segment_words; words > 0; skipped = 0, runs += kTilePixels) {
    const size_t now = Least(words, args.segment_words - skipped);
    OffsetsOfRun<Isa>(LhsRun(args.lhs_base, *runs) + skipped,
                      LhsRun(args.lhs_base, runs[to_second]) + skipped, now, to);
    words -= now;
    to += now * kNibbles;
  }
}

// Counts of two pixels in 16 bits, for up to 4 vectors of filters each.
template <typename Isa>
struct Counts {
  static constexpr size_t kFilters = sizeof(typename Isa::Vector);
  alignas(kFilters) uint16_t pixel[2][kMostVectors * kFilters];
};

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Vector TableAt(TableOffset offset) {
  return Isa::Table(&kTables.counts[0][0] + offset);
}

// The counts of a vector of filters so far. In the 16-bit lanes that were added up, the low byte is
// one filter and the high byte another; the low nibble of each byte is one pixel and the high
// nibble another.
template <typename Isa>
struct Sums {
  using Vector = typename Isa::Vector;
  static constexpr size_t kFilters = sizeof(Vector);

  Vector lanes = Isa::Zero();
  Vector shifted = Isa::Zero();  // sums of lanes that were shifted by a nibble

  [[gnu::always_inline]] void Add(Vector v) {
    lanes = Isa::AddBytes(lanes, v);
    shifted = Isa::AddBytes(shifted, Isa::template ShiftDown<4>(v));
    // Without Keep gcc 12 mixes the vectors of a step, and spills.
    Isa::Keep(lanes);
    Isa::Keep(shifted);
  }

  // The counts are below 256. The high byte of `shifted` has only the second pixel's count of the
  // second filter. Each other count is what remains of one byte when a count that is known by then
  // is removed.
  [[gnu::always_inline]] void Store(bool add, uint16_t* first_pixel, uint16_t* second_pixel) const {
    const Vector second_of_second = Isa::template ShiftDown<8>(shifted);
    const Vector first_of_second = Without(second_of_second, Isa::template ShiftDown<8>(lanes));
    const Vector second_of_first = Without(first_of_second, shifted);
    const Vector first_of_first = Without(second_of_first, lanes);
    Put(add, first_of_first, first_pixel);
    Put(add, first_of_second, first_pixel + kFilters / 2);
    Put(add, second_of_first, second_pixel);
    Put(add, second_of_second, second_pixel + kFilters / 2);
  }

 private:
  // Returns the low byte of sums that contain 16 times `known` in addition to it.
  static Vector Without(Vector known, Vector sums) {
    return Isa::LowBytes(Isa::SubtractLanes(sums, Isa::ShiftUp(known)));
  }
  static void Put(bool add, Vector counts, uint16_t* to) {
    auto* vector = reinterpret_cast<Vector*>(to);
    *vector = add ? Isa::AddLanes(counts, *vector) : counts;
  }
};

// Vectors of filters that are counted together, one of each block. A step of kNibbles is a vector.
template <typename Isa, int kVectors>
struct NibbleFilters {
  using Vector = typename Isa::Vector;
  static constexpr size_t kStepBytes = sizeof(Vector);
  static constexpr size_t kMostSteps = 63;  // until bytes are full: 63 times 4 is 252
  static constexpr int kLeast = 1;          // steps that Skip can move by

  const uint8_t* block[kVectors];

  [[gnu::always_inline]] Vector At(int vector, int step) const {
    return reinterpret_cast<const Vector*>(block[vector])[step];
  }
};

// Two steps of kBytes are a vector. So half as much is read, but each vector is split again for
// each pair of pixels. That suits one pixel, which waits for its filters.
template <typename Isa, int kVectors>
struct ByteFilters {
  using Vector = typename Isa::Vector;
  static constexpr size_t kStepBytes = sizeof(Vector) / 2;
  static constexpr size_t kMostSteps = 60;
  static constexpr int kLeast = 2;

  const uint8_t* block[kVectors];

  [[gnu::always_inline]] Vector At(int vector, int step) const {
    const Vector bytes = reinterpret_cast<const Vector*>(block[vector])[step / 2];
    return Isa::LowNibbles(step % 2 == 0 ? bytes : Isa::template ShiftDown<4>(bytes));
  }
};

template <typename Filters>
[[gnu::always_inline]] inline void Skip(size_t steps, Filters& filters) {
#pragma GCC unroll 8
  for (const uint8_t*& at : filters.block) at += steps * Filters::kStepBytes;
}

// Adds kSteps steps of one pair of pixels. Each table is looked up in turn for all filters.
template <int kSteps, typename Isa, int kVectors, typename Filters>
[[gnu::always_inline]] inline void AddSteps(Sums<Isa> (&sums)[1][kVectors],
                                            const TableOffset* tables, const Filters& filters,
                                            int first) {
  typename Isa::Vector table[kSteps];
#pragma GCC unroll 8
  for (int step = 0; step < kSteps; ++step) table[step] = TableAt<Isa>(tables[first + step]);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    auto counts = Isa::LookUp(table[0], filters.At(v, first));
#pragma GCC unroll 8
    for (int step = 1; step < kSteps; ++step) {
      counts = Isa::AddBytes(counts, Isa::LookUp(table[step], filters.At(v, first + step)));
    }
    sums[0][v].Add(counts);
  }
}

// Adds kSteps steps of two pairs of pixels, whose tables are kPairSteps apart. Filters are loaded
// once for both pairs.
template <int kSteps, typename Isa, int kVectors, typename Filters>
[[gnu::always_inline]] inline void AddSteps(Sums<Isa> (&sums)[2][kVectors],
                                            const TableOffset* tables, const Filters& filters,
                                            int first) {
  typename Isa::Vector counts[2][kVectors];
#pragma GCC unroll 8
  for (int step = 0; step < kSteps; ++step) {
    typename Isa::Vector nibbles[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      nibbles[v] = filters.At(v, first + step);
      Isa::Keep(nibbles[v]);
    }
#pragma GCC unroll 2
    for (size_t pair = 0; pair < 2; ++pair) {
      const auto table =
          TableAt<Isa>(tables[pair * kPairSteps + static_cast<size_t>(first + step)]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const auto found = Isa::LookUp(table, nibbles[v]);
        counts[pair][v] = step == 0 ? found : Isa::AddBytes(counts[pair][v], found);
        Isa::Keep(counts[pair][v]);
      }
    }
  }
#pragma GCC unroll 2
  for (size_t pair = 0; pair < 2; ++pair) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[pair][v].Add(counts[pair][v]);
  }
}

// This function is inlined, because otherwise gcc 12 spills and layers B to D take a quarter more
// with AVX2.
template <int kTogether, typename Isa, int kVectors, typename Filters>
[[gnu::always_inline]] inline void CountSteps(const TableOffset* tables, Filters filters,
                                              size_t steps, bool add, Counts<Isa>* counts) {
  constexpr int kGroup = 3 * Filters::kLeast;
  constexpr size_t kUnrolled = 3 * kGroup;
  Sums<Isa> sums[kTogether][kVectors];
  for (; steps % kGroup > 0; steps -= Filters::kLeast, tables += Filters::kLeast) {
    AddSteps<Filters::kLeast>(sums, tables, filters, 0);
    Skip(Filters::kLeast, filters);
  }
  for (; steps % kUnrolled > 0; steps -= kGroup, tables += kGroup) {
#pragma GCC unroll 2
    for (int first = 0; first < kGroup; first += 3) AddSteps<3>(sums, tables, filters, first);
    Skip(kGroup, filters);
  }
  // Unrolling gains 4 % for layers A to D, whose depths are all multiples of it.
  for (; steps > 0; steps -= kUnrolled) {
#pragma GCC unroll 3
    for (size_t group = 0; group < kUnrolled; group += kGroup, tables += kGroup) {
#pragma GCC unroll 2
      for (int first = 0; first < kGroup; first += 3) AddSteps<3>(sums, tables, filters, first);
      Skip(kGroup, filters);
    }
  }
#pragma GCC unroll 2
  for (size_t pair = 0; pair < kTogether; ++pair) {
    auto& [first, second] = counts[pair].pixel;
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t column = v * Sums<Isa>::kFilters;
      sums[pair][v].Store(add, first + column, second + column);
    }
  }
}

// Stores the first `columns` of a pixel's counts, or all if there are more.
template <typename Isa, size_t kColumns>
void StoreCounts(const uint16_t* counts, size_t columns, bool add, int32_t* acc) {
#pragma GCC unroll 16
  for (size_t j = 0; j < kColumns; j += Isa::kSums) {
    if (columns <= j + Isa::kSums) {
      if (columns > j) Isa::StoreSums(counts + j, columns - j, add, acc + j);
      return;
    }
    Isa::StoreSums(counts + j, Isa::kSums, add, acc + j);
  }
}

// The words of a tile whose tables are found.
struct TileWords {
  const TableOffset (*tables)[kPairSteps];
  size_t steps;
  const uint8_t* filters;  // filters of the first block
  size_t block_bytes;      // bytes from one block to the next
  bool add;                // whether to add to the words before
};

// Counts the columns of the result that kVectors vectors have from j on.
template <typename Isa, int kVectors, typename Filters, size_t kTilePixels>
void CountColumns(const BgemmArgs& args, const TileWords& words, size_t j) {
  constexpr size_t kColumns = sizeof(typename Isa::Vector);
  constexpr size_t kTogether = kTilePixels <= 2 || kVectors > Isa::kMostVectorsOfTwo ? 1 : 2;
  Counts<Isa> counts[kTilePixels / 2];
  const size_t pairs = (args.m + 1) / 2;
  Filters filters;
  const uint8_t* block = words.filters + j / kColumns * words.block_bytes;
  for (const uint8_t*& at : filters.block) {
    at = block;
    block += words.block_bytes;
  }
  // Filters come from beyond L1 only once for all pixels.
  for (size_t step = 0; step < words.steps; step += Filters::kMostSteps) {
    const size_t steps = Least(Filters::kMostSteps, words.steps - step);
    size_t pair = 0;
    for (; pair + kTogether <= pairs; pair += kTogether) {
      CountSteps<kTogether, Isa, kVectors>(words.tables[pair] + step, filters, steps, step > 0,
                                           counts + pair);
    }
    if (pair < pairs) {
      CountSteps<1, Isa, kVectors>(words.tables[pair] + step, filters, steps, step > 0,
                                   counts + pair);
    }
    Skip(steps, filters);
  }
  for (size_t i = 0; i < args.m; ++i) {
    StoreCounts<Isa, kVectors * kColumns>(counts[i / 2].pixel[i % 2], args.n - j, words.add,
                                          args.acc + i * args.acc_stride + j);
  }
}

template <typename Isa, template <typename, int> typename Filters, size_t kTilePixels>
void BgemmLookUp(const BgemmArgs& args) {
  constexpr size_t kColumns = sizeof(typename Isa::Vector);
  constexpr size_t kWordBytes = kNibbles * Filters<Isa, 1>::kStepBytes;  // bytes of a block
  alignas(32) TableOffset tables[kTilePixels / 2][kPairSteps];
  const size_t depth = args.segments * args.segment_words;
  for (size_t word = 0; word < depth; word += kWordsAtOnce) {
    const size_t now = Least(kWordsAtOnce, depth - word);
    for (size_t i = 0; i < args.m; i += 2) {
      FindTables<Isa, kTilePixels>(args, i, word, now, tables[i / 2]);
    }
    const TileWords words{.tables = tables,
                          .steps = now * kNibbles,
                          .filters = reinterpret_cast<const uint8_t*>(args.rhs) + word * kWordBytes,
                          .block_bytes = depth * kWordBytes,
                          .add = word > 0};
    size_t j = 0;
    for (; j + 3 * kColumns < args.n; j += 4 * kColumns) {
      CountColumns<Isa, 4, Filters<Isa, 4>, kTilePixels>(args, words, j);
    }
    for (; j + kColumns < args.n; j += 2 * kColumns) {
      CountColumns<Isa, 2, Filters<Isa, 2>, kTilePixels>(args, words, j);
    }
    if (j < args.n) CountColumns<Isa, 1, Filters<Isa, 1>, kTilePixels>(args, words, j);
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_BGEMM_LOOK_UP_H_
