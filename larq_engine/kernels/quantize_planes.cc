#include "larq_engine/kernels/quantize_planes.h"

#include <algorithm>
#include <utility>

#include "larq_engine/kernels/bits.h"

namespace larq_engine {
namespace {

// Half of the smallest L1.
constexpr size_t kPartBytes = 16 * 1024;

}  // namespace

PlaneQuantizer::PlaneQuantizer(size_t bits, size_t channels, std::vector<float> limits,
                               const PixelOps& ops)
    : bits_(bits),
      channels_(channels),
      words_(WordsFor(channels)),
      part_pixels_(std::max<size_t>(1, kPartBytes / sizeof(float) / std::max<size_t>(1, channels))),
      limits_(std::move(limits)),
      signs_(channels, 0),
      ops_(ops) {}

uint32_t* PlaneQuantizer::TakeScratch(ScratchParts& parts) const {
  return parts.Take<uint32_t>(part_pixels_, words_);
}

size_t PlaneQuantizer::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

void PlaneQuantizer::Run(const float* in, size_t pixels, std::byte* scratch, uint32_t* out) const {
  ScratchParts parts(scratch);
  uint32_t* below = TakeScratch(parts);
  for (size_t first = 0; first < pixels; first += part_pixels_) {
    RunPart(in + first * channels_, std::min(part_pixels_, pixels - first), below,
            out + first * bits_ * words_);
  }
}

// `below` gets the bits that say which values are smaller than one limit. As limits rise, bit j of
// q is the parity of those limits at whole numbers of 2^j, counted from 1, that a value is not
// smaller than. They are an odd number, so the parity of those that it is smaller than is the
// opposite, and that is what plane j has as its bit.
void PlaneQuantizer::RunPart(const float* in, size_t pixels, uint32_t* below, uint32_t* out) const {
  const size_t pixel_words = bits_ * words_;
  for (size_t i = 1; i < size_t{1} << bits_; ++i) {
    ops_.bitpack_float_limits(in, limits_.data() + (i - 1) * channels_, signs_.data(), pixels,
                              channels_, below);
    for (size_t plane = 0; plane < bits_ && i % (size_t{1} << plane) == 0; ++plane) {
      const bool is_first = i == size_t{1} << plane;
      for (size_t pixel = 0; pixel < pixels; ++pixel) {
        const uint32_t* from = below + pixel * words_;
        uint32_t* to = out + pixel * pixel_words + plane * words_;
        for (size_t w = 0; w < words_; ++w) to[w] = is_first ? from[w] : to[w] ^ from[w];
      }
    }
  }
}

}  // namespace larq_engine
