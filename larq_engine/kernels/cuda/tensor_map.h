// Descriptions of matrices of words for chips of compute capability 9.0, which copy boxes of them
// by themselves (TMA). Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_TENSOR_MAP_H_
#define LARQ_ENGINE_KERNELS_CUDA_TENSOR_MAP_H_

#include <cstdint>

namespace larq_engine::cuda {

// A tensor map that the driver makes from a MatrixMap. Only the driver and the chip know its
// contents.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

struct MatrixMap {
  const uint32_t* words;  // a multiple of 16 bytes
  int64_t rows;
  int64_t row_words;
  int64_t pitch_words;  // from a row to the next, a multiple of 4
  // The size of a box, which one copy brings. What is outside the matrix becomes zeros.
  int32_t box_rows;
  int32_t box_words;
  // Tells whether rows have 128 bytes, whose 16-byte parts are swizzled as wgmma_rules.h says.
  bool is_swizzled;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_TENSOR_MAP_H_
