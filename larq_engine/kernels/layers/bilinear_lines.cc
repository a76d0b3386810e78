#include "larq_engine/kernels/layers/bilinear_lines.h"

#include <algorithm>
#include <cmath>

namespace larq_engine {
namespace {

// XNNPACK computes bytes with this many bits behind the point for each axis.
constexpr int kShareBits = 11;

int32_t InSteps(float share) {
  return static_cast<int32_t>(std::nearbyint(share * static_cast<float>(1 << kShareBits)));
}

// The four pixels that a pixel is made of.
template <typename T>
struct Corners {
  const T* low_left;
  const T* low_right;
  const T* high_left;
  const T* high_right;
};

void MakePixel(const Corners<float>& of, float share_x, float share_y, int64_t channels,
               float* __restrict out) {
  for (int64_t c = 0; c < channels; ++c) {
    const float low = of.low_left[c] + (of.low_right[c] - of.low_left[c]) * share_x;
    const float high = of.high_left[c] + (of.high_right[c] - of.high_left[c]) * share_x;
    out[c] = low + (high - low) * share_y;
  }
}

void MakePixel(const Corners<int8_t>& of, float share_x, float share_y, int64_t channels,
               int8_t* __restrict out) {
  constexpr int32_t kOne = 1 << kShareBits;
  constexpr int32_t kHalf = 1 << (2 * kShareBits - 1);
  const int32_t steps_x = InSteps(share_x), steps_y = InSteps(share_y);
  for (int64_t c = 0; c < channels; ++c) {
    const int32_t low = of.low_left[c] * kOne + (of.low_right[c] - of.low_left[c]) * steps_x;
    const int32_t high = of.high_left[c] * kOne + (of.high_right[c] - of.high_left[c]) * steps_x;
    const int32_t sum = low * kOne + (high - low) * steps_y;
    out[c] = static_cast<int8_t>((sum + kHalf) >> (2 * kShareBits));
  }
}

template <typename T>
void MakeLine(const T* low, const T* high, float share, const std::vector<BetweenPixels>& xs,
              int64_t channels, T* out) {
  for (const BetweenPixels& x : xs) {
    const int64_t left = x.low * channels, right = x.high * channels;
    MakePixel({low + left, low + right, high + left, high + right}, x.share, share, channels, out);
    out += channels;
  }
}

}  // namespace

std::vector<BetweenPixels> Between(int64_t from, int64_t to, AxisScale scale) {
  const bool aligns = scale.aligns_corners && to > 1;
  const float step = aligns ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                            : static_cast<float>(from) / static_cast<float>(to);
  const float offset = scale.has_pixel_centers ? 0.5f * step - 0.5f : 0.0f;
  std::vector<BetweenPixels> positions;
  positions.reserve(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const float place =
        std::clamp(static_cast<float>(i) * step + offset, 0.0f, static_cast<float>(from - 1));
    const int64_t low = std::min(static_cast<int64_t>(place), from - 1);
    positions.push_back({.low = low,
                         .high = std::min(low + 1, from - 1),
                         .share = place - static_cast<float>(low)});
  }
  return positions;
}

void BilinearLine(const float* low, const float* high, float share,
                  const std::vector<BetweenPixels>& xs, int64_t channels, float* out) {
  MakeLine(low, high, share, xs, channels, out);
}

void BilinearLine(const int8_t* low, const int8_t* high, float share,
                  const std::vector<BetweenPixels>& xs, int64_t channels, int8_t* out) {
  MakeLine(low, high, share, xs, channels, out);
}

}  // namespace larq_engine
