// A product of two matrices of floats that are both computed when a model runs. The right one is
// packed anew for each product.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_MATRIX_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_LAYERS_MATRIX_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/floats/table.h"

namespace larq_engine {

class MatrixProduct {
 public:
  // The left matrix is [rows][depth], the right one [depth][columns]; or transposed.
  struct Sizes {
    int64_t rows = 0;
    int64_t columns = 0;
    int64_t depth = 0;
    bool left_is_transposed = false;
    bool right_is_transposed = false;
  };

  explicit MatrixProduct(const FloatRow& row);

  // Must be called before the first Run. Throws std::bad_alloc if memory cannot hold the scratch.
  void Resize(const Sizes& sizes);

  const char* kernel() const { return row_.name; }
  // Returns the number of parts that the columns can be computed in.
  int64_t column_blocks() const;
  size_t scratch_bytes() const { return scratch_bytes_; }  // as for other layers

  // Computes blocks [first_block, last_block) of rows [first, last); `output` starts at row
  // `first`.
  void Run(const float* left, const float* right, int64_t first, int64_t last, int64_t first_block,
           int64_t last_block, std::byte* scratch, float* output) const;

 private:
  struct Scratch {
    float* packed;  // a block of the right matrix
    float* rows;    // a tile of the left matrix, if that is transposed
  };
  Scratch TakeScratch(std::byte* memory, size_t& bytes) const;

  void PackColumns(const float* right, int64_t first, int64_t columns, float* packed) const;
  void RunBlock(const float* left, int64_t first, int64_t last, const Scratch& scratch,
                int64_t columns, float* output) const;

  FloatRow row_;
  Sizes sizes_;
  size_t scratch_bytes_ = 0;
  AlignedBuffer<float> bias_;  // zeros
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_MATRIX_PRODUCT_H_
