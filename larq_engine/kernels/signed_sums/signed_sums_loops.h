// Signed sums in plain loops over the lanes, which a compiler vectorises. The functions are
// internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_LOOPS_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_LOOPS_H_

#include <cstring>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {
namespace {

void Int8SumsInLoops(const Int8SumsArgs& args) {
  for (size_t block = 0; block < args.blocks; ++block) {
    const uint32_t* signs = args.signs + block * args.words * kSignedLanes;
    int32_t minus[kSignedLanes] = {};
    for (size_t w = 0; w < args.words; ++w, signs += kSignedLanes) {
      const Int8Tables& tables = args.tables[w];
      uint8_t bytes[sizeof(uint32_t) * kSignedLanes];
      std::memcpy(bytes, signs, sizeof(bytes));
      for (size_t i = 0; i < sizeof(bytes); ++i) {
        const size_t first = i / kSignedLanes * 16 + bytes[i] % 16;
        const size_t second = i / kSignedLanes * 16 + bytes[i] / 16;
        minus[i % kSignedLanes] += tables.low[0][first] + tables.low[1][second] +
                                   32 * (tables.high[0][first] + tables.high[1][second]);
      }
    }
    for (size_t lane = 0; lane < kSignedLanes; ++lane) {
      args.sums[block * kSignedLanes + lane] = args.base - 2 * minus[lane];
    }
  }
}

void FloatSumsInLoops(const FloatSumsArgs& args) {
  for (size_t block = 0; block < args.blocks; ++block) {
    const uint32_t* signs = args.signs + block * args.words * kSignedLanes;
    float sums[kSignedLanes] = {};
    for (size_t w = 0; w < args.words; ++w, signs += kSignedLanes) {
      for (size_t i = 0; i < kWordBits; i += 4) {
        const float* four = args.inputs + w * kWordBits + i;
        for (size_t lane = 0; lane < kSignedLanes; ++lane) {
          const uint32_t word = signs[lane];
          float sum = (word & kBit[i]) == 0 ? four[0] : -four[0];
          sum += (word & kBit[i + 1]) == 0 ? four[1] : -four[1];
          sum += (word & kBit[i + 2]) == 0 ? four[2] : -four[2];
          sum += (word & kBit[i + 3]) == 0 ? four[3] : -four[3];
          sums[lane] += sum;
        }
      }
    }
    std::memcpy(args.sums + block * kSignedLanes, sums, sizeof(sums));
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_LOOPS_H_
