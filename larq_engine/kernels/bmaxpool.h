// LceBMaxPool2d: the maximum of +-1 values is -1 only where all are, so it is the bitwise and.
#ifndef LARQ_ENGINE_KERNELS_BMAXPOOL_H_
#define LARQ_ENGINE_KERNELS_BMAXPOOL_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/window.h"

namespace larq_engine {

// Computes output rows [first, last) of the batch * rows.out rows. in is
// [batch][rows.in][cols.in][words]. Taps outside the image do not take part (SAME).
void BMaxPool2d(const uint32_t* in, const WindowAxis& rows, const WindowAxis& cols, size_t words,
                int64_t first, int64_t last, uint32_t* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BMAXPOOL_H_
