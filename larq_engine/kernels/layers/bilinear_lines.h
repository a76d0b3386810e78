// Lines of an image whose size is changed: each value is made of the four nearest ones, as hosts'
// XNNPACK does it.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_BILINEAR_LINES_H_
#define LARQ_ENGINE_KERNELS_LAYERS_BILINEAR_LINES_H_

#include <cstdint>
#include <vector>

namespace larq_engine {

// Maps positions of an axis to those of another size.
struct AxisScale {
  bool aligns_corners = false;
  bool has_pixel_centers = false;
};

// A position between two pixels of the axis.
struct BetweenPixels {
  int64_t low;
  int64_t high;
  float share;  // of the pixel `high`
};

// Returns the positions of `to` pixels on an axis of `from` pixels, both 1 or more.
std::vector<BetweenPixels> Between(int64_t from, int64_t to, AxisScale scale);

// Makes a line of `xs.size()` pixels of what lies between two lines of the image.
void BilinearLine(const float* low, const float* high, float share,
                  const std::vector<BetweenPixels>& xs, int64_t channels, float* out);
void BilinearLine(const int8_t* low, const int8_t* high, float share,
                  const std::vector<BetweenPixels>& xs, int64_t channels, int8_t* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_BILINEAR_LINES_H_
