// The contract of the product of bytes, for every micro-kernel of every ISA. It serves values of
// several bits as bgemm.h serves values of one bit, and gives the same accumulators.
//
//   acc[i][j] = start[j] + sum over k of lhs(i, k) * rhs(j, k)       i < m, j < n
//
// A value of several bits is v = n - 2 * u. Here n is the largest value, and u is the number that
// the bits form in the file, with plane 0 as the lowest bit: an unsigned byte. So the dot product
// with weights w, signed bytes, is n * sum(w) - 2 * sum(u * w). If each column starts at half of
// the difference of the largest dot product and n * sum(w), acc equals the sum of the binary
// products of all planes. Padding of 0 bits stands for +n and adds nothing, as in the binary
// products.
//
// A micro-kernel is one row of table.cc; dispatch, tests and benchmarks read the rows.
// tests/kernels/byte_product_test.cc has one test a clause:
//
// 1. Tile:      1 <= m <= mr and 1 <= n, any n. The kernel writes acc[0..m)[0..n) and no more.
// 2. Left:      the row of pixel i is `segments` runs of segment_bytes, a multiple of kr: run s
//               starts at lhs + i * lhs_stride + s * segment_stride, at any address. Rows may
//               overlap.
// 3. Values:    bytes of the left side have up to in_planes planes, so they are at most
//               2^in_planes - 1. If the row's left side is signed, which leaves seven planes, they
//               may also be negative, down to -128. Those of the right side are at most
//               2^weight_planes - 1 in absolute value.
// 4. RightSide: PackBytes made `rhs` for this row: blocks of nr columns; within a block,
//               for each kByteStep of the depth, run after run, nr groups of that many bytes;
//               64-byte aligned. The last block is filled up with zero columns. So is `start`,
//               which is 64-byte aligned, too.
// 5. Parts:     nr divides kRhsPartColumns of operands.h. So the columns from any multiple of it
//               on, as packed with the columns before them, are a valid right side.
// 6. Reads:     nothing is read outside the rows of the left side, the packed right side and start.
// 7. Wraps:     acc is the sum modulo 2^32, at any depth.
// 8. Exact:     results are equal over all rows, bit for bit.
// 9. Expand:    `expand` makes these bytes of planes: bit p of bytes[32 * w + c] is bit c of
//               run[p * plane_words + w], for w < words and p < planes. Words and bytes may lie at
//               any address that is aligned for their type.
// 10. A kernel allocates nothing, throws nothing, keeps nothing, and knows no threads.
#ifndef LARQ_ENGINE_KERNELS_BYTES_BYTE_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_BYTES_BYTE_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/operands.h"

namespace larq_engine {

inline constexpr size_t kByteStep = 4;

struct ByteArgs {
  size_t m;
  size_t n;
  size_t segments;
  size_t segment_bytes;
  size_t segment_stride;  // bytes from one run to the next
  const uint8_t* lhs;     // bytes of either sign
  size_t lhs_stride;      // bytes from one pixel to the next
  const int8_t* rhs;
  const int32_t* start;
  int32_t* acc;
  size_t acc_stride;  // elements from one pixel of acc to the next
};

static inline size_t DepthOf(const ByteArgs& args) { return args.segments * args.segment_bytes; }

using ByteFn = void (*)(const ByteArgs& args);

struct ExpandArgs {
  const uint32_t* run;
  size_t words;
  size_t planes;
  size_t plane_words;  // words from one plane to the next
  uint8_t* bytes;
};

using ExpandFn = void (*)(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_BYTE_PRODUCT_H_
