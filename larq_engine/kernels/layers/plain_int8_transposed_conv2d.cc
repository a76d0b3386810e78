#include "larq_engine/kernels/layers/plain_int8_transposed_conv2d.h"

#include <algorithm>

#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/kernels/layers/plain_int8_conv2d.h"

namespace larq_engine {

PlainInt8TransposedConv2d::PlainInt8TransposedConv2d(const TransposedConv2dSpec& spec,
                                                     const int8_t* filter, int32_t zero_point,
                                                     const Int8Output& output, const PixelOps& ops)
    : spec_(spec),
      window_(spec.Over()),
      filter_(TapsFirst({.in_channels = spec.in_channels,
                         .out_channels = spec.out_channels,
                         .window = spec.window},
                        filter)),
      zero_point_(zero_point),
      output_(output),
      ops_(ops) {}

size_t PlainInt8TransposedConv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  parts.Take<uint32_t>(1, static_cast<size_t>(spec_.out_channels));
  return parts.bytes();
}

// Adds all products of an output pixel. Sums wrap, as the host's do.
void PlainInt8TransposedConv2d::AddTaps(const int8_t* image, int64_t y, int64_t x,
                                        uint32_t* sums) const {
  const auto in_channels = static_cast<size_t>(spec_.in_channels);
  const auto out_channels = static_cast<size_t>(spec_.out_channels);
  const int64_t place_y = y + window_.height.pad_before, place_x = x + window_.width.pad_before;
  const Reaching ys = PositionsReaching(window_.height, place_y);
  const Reaching xs = PositionsReaching(window_.width, place_x);
  for (int64_t in_y = ys.first; in_y < ys.last; ++in_y) {
    for (int64_t in_x = xs.first; in_x < xs.last; ++in_x) {
      const int64_t tap = (place_y - in_y * window_.height.stride) * window_.width.taps + place_x -
                          in_x * window_.width.stride;
      const int8_t* pixel = image + (in_y * window_.width.out + in_x) * spec_.in_channels;
      const int8_t* weights =
          filter_.data() + static_cast<size_t>(tap) * in_channels * out_channels;
      for (size_t i = 0; i < in_channels; ++i, weights += out_channels) {
        const int32_t value = pixel[i] - zero_point_;
        for (size_t c = 0; c < out_channels; ++c) {
          sums[c] += static_cast<uint32_t>(value * weights[c]);
        }
      }
    }
  }
}

void PlainInt8TransposedConv2d::Run(const int8_t* input, int64_t first, int64_t last,
                                    std::byte* scratch, int8_t* output) const {
  const auto channels = static_cast<size_t>(spec_.out_channels);
  ScratchParts parts(scratch);
  auto* const sums = parts.Take<uint32_t>(1, channels);
  const int64_t in_pixels = window_.height.out * window_.width.out;
  for (int64_t line = first; line < last; ++line) {
    const int8_t* image = input + line / spec_.out_height * in_pixels * spec_.in_channels;
    for (int64_t x = 0; x < spec_.out_width; ++x, output += channels) {
      std::copy(output_.bias.begin(), output_.bias.end(), sums);
      AddTaps(image, line % spec_.out_height, x, sums);
      ops_.round_sums(reinterpret_cast<const int32_t*>(sums), output_.multiplier.data(), channels,
                      output_.range, output_.zero_point, output);
    }
  }
}

}  // namespace larq_engine
