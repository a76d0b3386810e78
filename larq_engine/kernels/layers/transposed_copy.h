// Copies a matrix so that its columns become rows.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_TRANSPOSED_COPY_H_
#define LARQ_ENGINE_KERNELS_LAYERS_TRANSPOSED_COPY_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// The places of a matrix, counted in elements.
struct ColumnsOfMatrix {
  int64_t rows;
  int64_t columns;
  int64_t row_stride;  // from one row to the next; columns follow one another
};

// Copies column after column. `element_bytes` is 1, 2, 4 or 8; `out` must not overlap the matrix.
void CopyTransposed(const std::byte* matrix, const ColumnsOfMatrix& places, size_t element_bytes,
                    std::byte* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_TRANSPOSED_COPY_H_
