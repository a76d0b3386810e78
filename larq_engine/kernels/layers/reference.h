// The convolution as its definition reads: unpacked values, and one loop for each dimension. It is
// slow on purpose. Every kernel row is tested against it, and it is tested against float
// convolutions. Users reach it with kernel=reference.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_REFERENCE_H_
#define LARQ_ENGINE_KERNELS_LAYERS_REFERENCE_H_

#include <cstdint>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/bmatmul_spec.h"
#include "larq_engine/kernels/common/output_transform.h"

namespace larq_engine {

// Computes output pixels [first, last) of the batch, of the kind that `transform` says; input,
// filter and output are laid out as for Bconv2d.
void ReferenceBconv2d(const Bconv2dSpec& spec, const OutputTransform& transform, int64_t in_height,
                      int64_t in_width, const uint32_t* input, const uint32_t* filter,
                      int64_t first, int64_t last, void* output);

// Computes products of dense rows of bits; the right matrix has a row for each column of the
// output.
void ReferenceBmatmul(const BmatmulSpec& spec, const uint32_t* left, int64_t rows,
                      const uint32_t* right, int64_t columns, float* output);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_REFERENCE_H_
