#include "larq_engine/kernels/common/corner_ones.h"

#include <bit>

#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {

size_t CornerCount(const Bconv2dSpec& spec) {
  return MemoryProduct(static_cast<size_t>(spec.window.height.taps + 1) *
                           static_cast<size_t>(spec.window.width.taps + 1),
                       static_cast<size_t>(spec.out_channels));
}

std::vector<int32_t> CornerOnes(const Bconv2dSpec& spec, const uint32_t* filter) {
  const auto height = static_cast<size_t>(spec.window.height.taps);
  const auto width = static_cast<size_t>(spec.window.width.taps);
  const auto channels = static_cast<size_t>(spec.out_channels);
  std::vector<int32_t> ones(CornerCount(spec));
  const auto corner = [&](size_t y, size_t x) {
    return ones.data() + (y * (width + 1) + x) * channels;
  };
  for (size_t n = 0; n < channels; ++n) {
    for (size_t y = 0; y < height; ++y) {
      for (size_t x = 0; x < width; ++x) {
        int32_t own = 0;
        for (int64_t plane = 0; plane < spec.bits_weights; ++plane) {
          for (size_t w = 0; w < spec.tap_words(); ++w) own += std::popcount(*filter++) << plane;
        }
        own *= static_cast<int32_t>(LargestOf(spec.bits_in));
        corner(y + 1, x + 1)[n] = own + corner(y, x + 1)[n] + corner(y + 1, x)[n] - corner(y, x)[n];
      }
    }
  }
  return ones;
}

}  // namespace larq_engine
