// Matrices of words as chips of 9.0 are told of them that copy boxes of them by themselves. Plain
// data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_TENSOR_MAP_H_
#define LARQ_ENGINE_KERNELS_CUDA_TENSOR_MAP_H_

#include <cstdint>

namespace larq_engine::cuda {

// As the driver makes it of a MatrixMap; what is in it, only the driver and the chip know.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

struct MatrixMap {
  const uint32_t* words;  // a multiple of 16 bytes
  int64_t rows;
  int64_t row_words;
  int64_t pitch_words;  // from a row to the next, a multiple of 4
  // Of a box, which is what a copy brings. What is outside the matrix becomes zeros.
  int32_t box_rows;
  int32_t box_words;
  // Rows of 128 bytes whose parts of 16 change places as wgmma_rules.h says, or lie as they are.
  bool is_swizzled;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_TENSOR_MAP_H_
