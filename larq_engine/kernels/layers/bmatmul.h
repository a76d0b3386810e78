// LceBmatmul: products of matrices of bits, both of which are computed when a model runs. The right
// matrix takes the place of a convolution's filters, and is packed in each run.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_BMATMUL_H_
#define LARQ_ENGINE_KERNELS_LAYERS_BMATMUL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/bmatmul_spec.h"
#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class Bmatmul {
 public:
  // `columns` is the number of rows of the right matrix, each of which makes a column.
  Bmatmul(const BmatmulSpec& spec, size_t columns, const BgemmRow& row, const PixelOps& ops);

  const char* kernel() const { return row_.name; }
  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes the products of `rows` rows of the left matrix. All rows of bits are dense.
  void Run(const uint32_t* left, size_t rows, const uint32_t* right, std::byte* scratch,
           float* output) const;

 private:
  struct Scratch;
  Scratch TakeScratch(ScratchParts& parts) const;
  void Pack(const uint32_t* right, const Scratch& scratch) const;
  const uint32_t* FillUp(const uint32_t* left, size_t rows, const Scratch& scratch) const;

  BmatmulSpec spec_;
  size_t columns_;
  const BgemmRow& row_;
  const PixelOps& ops_;
  size_t words_;         // of a row of bits
  size_t filled_words_;  // of a row as the kernel reads it
  std::vector<ptrdiff_t> runs_;
  std::vector<float> of_dot_;   // one a column
  std::vector<int32_t> depth_;  // one a row of a tile
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_BMATMUL_H_
