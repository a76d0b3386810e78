// Signed sums over vectors, written once for all ISAs that have vectors. The functions are internal
// to the including file.
//
// For four inputs, sixteen sums of int8 are looked up for 16 outputs in each 16 bytes of a vector.
// The two digits of sums are added up in bytes, then in 16 bits, then in 32.
//
// A Vec is the vectors of an ISA, all of whose functions are static. It offers
//
//   Bytes, kBytes, Load           a vector of bytes
//   LowBits, HighBits             the lower and the upper four bits of each byte
//   LookUp(tables, at)            a byte for each, from the 16 bytes that it lies in
//   Add                           the sums of bytes, or of floats
//   Sums, AddDigits(sums, l, h)   adds l + 32 h to sums of 16 bits, of all 16 outputs
//   Wide, AddSums(wide, sums)     adds sums of 8 outputs to sums of 32 bits
//   StoreSums(base, wide, to)     stores the base less twice the sums, of 8 outputs
//   kInt8Blocks, kFloatBlocks     how many blocks of outputs are computed at a time
//   Floats, kFloats, Store        a vector of floats
//   Words, LoadWords, NextFour    a word for each of them, and that word shifted down by four bits
//   TableMaker                    makes a table of four inputs: their sums with all signs
//   Select(table, words)          the sums whose signs are the low four bits of words
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_VECTORS_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_VECTORS_H_

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {
namespace {

template <typename Vec, size_t kBlocks>
void Int8Blocks(const Int8SumsArgs& args, size_t first) {
  // Bytes hold eight look-ups, 16 bits hold eight times eight of at most 1023.
  constexpr size_t kWordsInBytes = Vec::kBytes / kSignedLanes;
  constexpr size_t kWordsIn16Bits = 8 * kWordsInBytes;
  typename Vec::Wide minus[kBlocks][2] = {};
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t w = 0; w < args.words;) {
    const size_t end_16 = w + kWordsIn16Bits < args.words ? w + kWordsIn16Bits : args.words;
    typename Vec::Sums acc[kBlocks][2] = {};
    while (w < end_16) {
      // gcc 12 does not see that a loop over at most one word ends after it.
      const size_t end =
          kWordsInBytes == 1 || w + kWordsInBytes < end_16 ? w + kWordsInBytes : end_16;
      typename Vec::Bytes low[kBlocks] = {}, high[kBlocks] = {};
      for (; w < end; ++w) {
        const Int8Tables& tables = args.tables[w];
#pragma GCC unroll 4
        for (size_t at = 0; at < sizeof(tables.low[0]); at += Vec::kBytes) {
          const auto low_0 = Vec::Load(tables.low[0] + at);
          const auto low_1 = Vec::Load(tables.low[1] + at);
          const auto high_0 = Vec::Load(tables.high[0] + at);
          const auto high_1 = Vec::Load(tables.high[1] + at);
#pragma GCC unroll 16
          for (size_t b = 0; b < kBlocks; ++b) {
            const size_t word = (b * args.words + w) * kSignedLanes + at / sizeof(*signs);
            const auto bits = Vec::Load(signs + word);
            const auto at_0 = Vec::LowBits(bits), at_1 = Vec::HighBits(bits);
            low[b] = Vec::Add(low[b], Vec::LookUp(low_0, at_0));
            high[b] = Vec::Add(high[b], Vec::LookUp(high_0, at_0));
            low[b] = Vec::Add(low[b], Vec::LookUp(low_1, at_1));
            high[b] = Vec::Add(high[b], Vec::LookUp(high_1, at_1));
          }
        }
      }
#pragma GCC unroll 16
      for (size_t b = 0; b < kBlocks; ++b) Vec::AddDigits(acc[b], low[b], high[b]);
    }
#pragma GCC unroll 16
    for (size_t b = 0; b < kBlocks; ++b) {
      minus[b][0] = Vec::AddSums(minus[b][0], acc[b][0]);
      minus[b][1] = Vec::AddSums(minus[b][1], acc[b][1]);
    }
  }
#pragma GCC unroll 16
  for (size_t b = 0; b < kBlocks; ++b) {
    int32_t* to = args.sums + (first + b) * kSignedLanes;
    Vec::StoreSums(args.base, minus[b][0], to);
    Vec::StoreSums(args.base, minus[b][1], to + kSignedLanes / 2);
  }
}

template <typename Vec>
void Int8SumsOfVectors(const Int8SumsArgs& args) {
  constexpr size_t kBlocks = Vec::kInt8Blocks;
  size_t block = 0;
  for (; block + kBlocks <= args.blocks; block += kBlocks) Int8Blocks<Vec, kBlocks>(args, block);
  for (; block < args.blocks; ++block) Int8Blocks<Vec, 1>(args, block);
}

template <typename Vec, size_t kBlocks>
void FloatBlocks(const FloatSumsArgs& args, size_t first) {
  constexpr size_t kOfBlock = kSignedLanes / Vec::kFloats;  // vectors
  constexpr size_t kVectors = kBlocks * kOfBlock;
  typename Vec::Floats acc[kVectors] = {};
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  const typename Vec::TableMaker make_table;
  for (size_t w = 0; w < args.words; ++w) {
    typename Vec::Words bits[kVectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      const uint32_t* words = signs + (v / kOfBlock * args.words + w) * kSignedLanes;
      bits[v] = Vec::LoadWords(words + v % kOfBlock * Vec::kFloats);
    }
    for (size_t i = 0; i < kWordBits; i += 4) {
      const auto table = make_table(args.inputs + w * kWordBits + i);
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) {
        acc[v] = Vec::Add(acc[v], Vec::Select(table, bits[v]));
        bits[v] = Vec::NextFour(bits[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) {
    Vec::Store(args.sums + first * kSignedLanes + v * Vec::kFloats, acc[v]);
  }
}

template <typename Vec>
void FloatSumsOfVectors(const FloatSumsArgs& args) {
  constexpr size_t kBlocks = Vec::kFloatBlocks;
  size_t block = 0;
  for (; block + kBlocks <= args.blocks; block += kBlocks) FloatBlocks<Vec, kBlocks>(args, block);
  for (; block < args.blocks; ++block) FloatBlocks<Vec, 1>(args, block);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_VECTORS_H_
