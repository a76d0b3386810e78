// Work cut into parts of about the same size.
#ifndef LARQ_ENGINE_KERNELS_EVEN_PARTS_H_
#define LARQ_ENGINE_KERNELS_EVEN_PARTS_H_

#include <algorithm>
#include <cstdint>

namespace larq_engine {

// Pixels that a kernel computes at once, and of them at a time: fewer take it as long.
struct KernelPixels {
  int64_t tile;
  int64_t step = 1;
};

// Only the last part has pixels that are no whole step. 49 pixels in parts of at most 8 are 7 of 7,
// or, two at a time, 4 of 8, 2 of 6 and one of 5.
struct EvenParts {
  int64_t pixels;
  int64_t parts;  // of more than steps the last are empty
  int64_t step = 1;

  int64_t steps() const { return (pixels + step - 1) / step; }

  // Where part `part` begins; the first parts have the steps that are left over, one each.
  int64_t Begin(int64_t part) const {
    const int64_t before = steps() / parts * part + std::min(part, steps() % parts);
    return std::min(pixels, before * step);
  }

  // Of any part.
  int64_t Most() const { return parts == 0 ? 0 : Begin(1); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_EVEN_PARTS_H_
