// Cuts work into parts of about the same size.
#ifndef LARQ_ENGINE_KERNELS_COMMON_EVEN_PARTS_H_
#define LARQ_ENGINE_KERNELS_COMMON_EVEN_PARTS_H_

#include <algorithm>
#include <cstdint>

namespace larq_engine {

// The number of pixels that a kernel's tile holds, and the step in which it computes them: a part
// of a step takes as long as a whole one.
struct KernelPixels {
  int64_t tile;
  int64_t step = 1;
};

// Only the last part may end within a step. 49 pixels in parts of at most 8 are 7 parts of 7; with
// a step of 2 they are 4 of 8, 2 of 6 and one of 5.
struct EvenParts {
  int64_t pixels;
  int64_t parts;  // if there are more parts than steps, the last ones are empty
  int64_t step = 1;

  int64_t steps() const { return (pixels + step - 1) / step; }

  // Returns the first pixel of part `part`. The steps that are left over go to the first parts, one
  // each.
  int64_t Begin(int64_t part) const {
    const int64_t before = steps() / parts * part + std::min(part, steps() % parts);
    return std::min(pixels, before * step);
  }

  // Returns the most pixels that a part has.
  int64_t Most() const { return parts == 0 ? 0 : Begin(1); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_EVEN_PARTS_H_
