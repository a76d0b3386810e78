#include "larq_engine/kernels/layers/reference.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Returns the value of a channel, whose planes lie `plane_words` apart.
int ValueAt(const uint32_t* plane, int64_t channel, int64_t planes, int64_t plane_words) {
  const size_t c = static_cast<size_t>(channel);
  int value = 0;
  for (int64_t i = 0; i < planes; ++i, plane += plane_words) {
    const int sign = plane[c / kWordBits] & kBit[c % kWordBits] ? -1 : 1;
    value += sign * (1 << i);
  }
  return value;
}

void Store(const OutputTransform& transform, int64_t pixel, int64_t channel, int64_t channels,
           int32_t dot, void* output) {
  const int64_t index = pixel * channels + channel;
  const size_t c = static_cast<size_t>(channel);
  if (transform.kind == OutputKind::kBits) {
    const size_t words = WordsFor(static_cast<size_t>(channels));
    uint32_t& word =
        static_cast<uint32_t*>(output)[static_cast<size_t>(pixel) * words + c / kWordBits];
    if (c % kWordBits == 0) word = 0;
    if (dot < transform.dot_limit[c]) word |= kBit[c % kWordBits];
    return;
  }
  const int32_t clamped = std::min(std::max(dot, transform.range.min), transform.range.max);
  const float y = static_cast<float>(clamped) * transform.multiplier[c] + transform.bias[c];
  if (transform.kind == OutputKind::kFloat) {
    static_cast<float*>(output)[index] = y;
  } else {
    const float q = std::round(y) + static_cast<float>(transform.zero_point);
    static_cast<int8_t*>(output)[index] =
        std::isnan(q) ? -128 : static_cast<int8_t>(std::min(std::max(q, -128.0f), 127.0f));
  }
}

}  // namespace

void ReferenceBconv2d(const Bconv2dSpec& spec, const OutputTransform& transform, int64_t in_height,
                      int64_t in_width, const uint32_t* input, const uint32_t* filter,
                      int64_t first, int64_t last, void* output) {
  const auto [height, width] = spec.window.Over(in_height, in_width);
  const int64_t group_in = spec.group_in_channels();
  const int64_t tap_words = static_cast<int64_t>(spec.tap_words());
  const int64_t plane_words = static_cast<int64_t>(spec.plane_words());
  const int64_t pixel_words = static_cast<int64_t>(spec.pixel_words());
  const int outside = static_cast<int>(spec.pad_value) * static_cast<int>(LargestOf(spec.bits_in));
  for (int64_t pixel = first; pixel < last; ++pixel) {
    const int64_t x = pixel % width.out;
    const int64_t y = pixel / width.out % height.out;
    const int64_t image = pixel / (width.out * height.out);
    for (int64_t n = 0; n < spec.out_channels; ++n) {
      const int64_t group = n / spec.group_out_channels();
      int32_t dot = 0;
      for (int64_t ty = 0; ty < height.taps; ++ty) {
        for (int64_t tx = 0; tx < width.taps; ++tx) {
          const int64_t iy = y * height.stride + ty * height.dilation - height.pad_before;
          const int64_t ix = x * width.stride + tx * width.dilation - width.pad_before;
          const bool inside = iy >= 0 && iy < in_height && ix >= 0 && ix < in_width;
          const uint32_t* tap =
              filter + ((n * height.taps + ty) * width.taps + tx) * tap_words * spec.bits_weights;
          for (int64_t c = 0; c < group_in; ++c) {
            const int value =
                inside ? ValueAt(input + ((image * in_height + iy) * in_width + ix) * pixel_words +
                                     group * tap_words,
                                 c, spec.bits_in, plane_words)
                       : outside;
            dot += value * ValueAt(tap, c, spec.bits_weights, tap_words);
          }
        }
      }
      Store(transform, pixel - first, n, spec.out_channels, dot, output);
    }
  }
}

void ReferenceBmatmul(const BmatmulSpec& spec, const uint32_t* left, int64_t rows,
                      const uint32_t* right, int64_t columns, float* output) {
  const auto words = static_cast<int64_t>(WordsFor(static_cast<size_t>(spec.depth)));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      int32_t dot = 0, left_sum = 0, right_sum = 0;
      for (int64_t k = 0; k < spec.depth; ++k) {
        const int s = ValueAt(left + i * words, k, 1, words);
        const int t = ValueAt(right + j * words, k, 1, words);
        dot += s * t;
        left_sum += s;
        right_sum += t;
      }
      const float of_column = static_cast<float>(right_sum) * spec.of_right + spec.constant;
      const float y = static_cast<float>(dot) * spec.of_dot + of_column;
      const float of_row = static_cast<float>(left_sum) * spec.of_left;
      output[i * columns + j] = spec.of_left == 0 ? y : y + of_row;
    }
  }
}

}  // namespace larq_engine
