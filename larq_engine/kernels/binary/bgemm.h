// The contract of the binary matrix product, for every micro-kernel of every ISA:
//
//   acc[i][j] = sum over k of popcount(lhs(i, k) xor rhs(j, k))      i < m, j < n
//
// m counts output pixels, n output channels; words hold +-1 values as bits.h says, so the dot
// product of two vectors of k_bits values is k_bits - 2 * acc. A micro-kernel is one row of
// table.cc; dispatch, tests and benchmarks read the rows. tests/kernels/bgemm_test.cc has
// one test a clause:
//
// 1. Tile:       1 <= m <= mr and 1 <= n, any n. The kernel writes acc[0..m)[0..n) and no more. mr
//                is a multiple of mr_step.
// 2. Segments:   the left side of a pixel is `segments` runs of `segment_words` words each, one
//                offset a run: run s of pixel i starts lhs[s * mr + i] words after lhs_base. Only
//                entries with i < m are read. A convolution points the runs straight at the taps in
//                the image (no im2col copy); tiles away from its borders share one list of offsets.
// 3. Depth:      segment_words is a multiple of kr_bits / 32. The packers pad both sides with
//                *equal* bits, which add nothing; only the caller knows the true depth.
// 4. Spatial:    the caller pads by pointing a run elsewhere (a run of 0 bits is +1, a
//                run of 1 bits is -1). The caller corrects zero padding; a kernel never does.
// 5. RightSide:  PackRhs made `rhs` for this row: blocks of nr columns, 64-byte aligned.
//                The last block is filled up with zero columns, and kRhsSlackWords follow it: a
//                kernel may load the filters of a step before it knows whether there is one. Within
//                a block, a row of kWords has nr groups of kr_bits / 32 words for each step of
//                kr_bits. A row of kBytes has nr bytes for each 8 bits, one of kNibbles for each 4
//                bits: byte 2 q + h belongs to column nr / 2 h + q.
// 6. Parts:      nr divides kRhsPartColumns. So the columns from any multiple of it on, as packed
//                with the columns before them, are a valid right side.
// 7. Reads:      nothing is read outside the runs and the packed right side. Runs are aligned
//                to 4 bytes only.
// 8. MaxDepth:   depths up to kMaxDot of bconv2d_spec.h cannot wrap an accumulator, whatever the
//                bits are.
// 9. Exact:      results are equal over all rows, bit for bit.
// 10. A kernel allocates nothing, throws nothing, keeps nothing, and knows no threads.
#ifndef LARQ_ENGINE_KERNELS_BINARY_BGEMM_H_
#define LARQ_ENGINE_KERNELS_BINARY_BGEMM_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/operands.h"

namespace larq_engine {

inline constexpr size_t kRhsSlackWords = 16;

enum class RhsForm { kWords, kBytes, kNibbles };

struct BgemmArgs {
  size_t m;
  size_t n;
  size_t segments;
  size_t segment_words;
  const uint32_t* lhs_base;
  const ptrdiff_t* lhs;
  const uint32_t* rhs;
  int32_t* acc;
  size_t acc_stride;  // elements from one pixel of acc to the next
};

using BgemmFn = void (*)(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_BGEMM_H_
