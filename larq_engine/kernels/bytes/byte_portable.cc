#include "larq_engine/kernels/bytes/byte_portable.h"

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {

void BytesI32_4x4x4Portable(const ByteArgs& args) {
  constexpr size_t kCols = 4;
  const int8_t* rhs = args.rhs;
  for (size_t j = 0; j < args.n; j += kCols, rhs += DepthOf(args) * kCols) {
    const size_t cols = args.n - j < kCols ? args.n - j : kCols;
    for (size_t i = 0; i < args.m; ++i) {
      const uint8_t* left = args.lhs + i * args.lhs_stride;
      uint32_t sums[kCols];
      for (size_t c = 0; c < kCols; ++c) sums[c] = static_cast<uint32_t>(args.start[j + c]);
      const int8_t* columns = rhs;
      for (size_t s = 0; s < args.segments; ++s, left += args.segment_stride) {
        for (size_t k = 0; k < args.segment_bytes; k += kByteStep, columns += kCols * kByteStep) {
          for (size_t c = 0; c < kCols; ++c) {
            for (size_t b = 0; b < kByteStep; ++b) {
              sums[c] += static_cast<uint32_t>(left[k + b] * columns[c * kByteStep + b]);
            }
          }
        }
      }
      for (size_t c = 0; c < cols; ++c) {
        args.acc[i * args.acc_stride + j + c] = static_cast<int32_t>(sums[c]);
      }
    }
  }
}

void ExpandPortable(const ExpandArgs& args) {
  for (size_t w = 0; w < args.words; ++w) {
    uint8_t bytes[kWordBits] = {};
    for (size_t p = 0; p < args.planes; ++p) {
      const uint32_t word = args.run[p * args.plane_words + w];
      for (size_t c = 0; c < kWordBits; ++c) {
        bytes[c] = static_cast<uint8_t>(bytes[c] | ((word >> c & 1) << p));
      }
    }
    for (size_t c = 0; c < kWordBits; ++c) args.bytes[w * kWordBits + c] = bytes[c];
  }
}

}  // namespace larq_engine
