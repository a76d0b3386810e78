#include "larq_engine/kernels/bmaxpool.h"

#include <algorithm>

namespace larq_engine {

void BMaxPool2d(const uint32_t* in, const WindowAxis& rows, const WindowAxis& cols, size_t words,
                int64_t first, int64_t last, uint32_t* out) {
  const size_t image_words = static_cast<size_t>(rows.in * cols.in) * words;
  out += static_cast<size_t>(first * cols.out) * words;
  for (int64_t r = first; r < last; ++r) {
    const uint32_t* image = in + static_cast<size_t>(r / rows.out) * image_words;
    const int64_t y = r % rows.out;
    const WindowAxis::Taps row_taps = rows.InsideTaps(y);
    for (int64_t x = 0; x < cols.out; ++x, out += words) {
      const WindowAxis::Taps col_taps = cols.InsideTaps(x);
      std::fill_n(out, words, ~uint32_t{0});
      for (int64_t ty = row_taps.first; ty < row_taps.last; ++ty) {
        for (int64_t tx = col_taps.first; tx < col_taps.last; ++tx) {
          const int64_t iy = y * rows.stride - rows.pad_before + ty;
          const int64_t ix = x * cols.stride - cols.pad_before + tx;
          const uint32_t* pixel = image + static_cast<size_t>(iy * cols.in + ix) * words;
          for (size_t w = 0; w < words; ++w) out[w] &= pixel[w];
        }
      }
    }
  }
}

}  // namespace larq_engine
