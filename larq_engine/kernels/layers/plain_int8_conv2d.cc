#include "larq_engine/kernels/layers/plain_int8_conv2d.h"

#include <algorithm>
#include <utility>

#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {
namespace {

// Sums wrap, as the host's do.
uint32_t Product(int32_t value, int8_t weight) { return static_cast<uint32_t>(value * weight); }

}  // namespace

std::vector<int8_t> TapsFirst(const Int8Conv2dSpec& spec, const int8_t* filter) {
  const auto channels = static_cast<size_t>(spec.out_channels);
  const auto depth = static_cast<size_t>(spec.depth());
  std::vector<int8_t> ordered(channels * depth);
  for (size_t c = 0; c < channels; ++c) {
    for (size_t k = 0; k < depth; ++k) ordered[k * channels + c] = filter[c * depth + k];
  }
  return ordered;
}

PlainInt8Conv2d::PlainInt8Conv2d(const Int8Conv2dSpec& spec, std::vector<int8_t> filter,
                                 const Int8Output& output, const PixelOps& ops)
    : spec_(spec), filter_(std::move(filter)), output_(output), ops_(ops) {}

void PlainInt8Conv2d::Resize(int64_t in_height, int64_t in_width) {
  grid_ = OutputGrid(spec_.window.Over(in_height, in_width));
}

size_t PlainInt8Conv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  parts.Take<uint32_t>(1, static_cast<size_t>(spec_.out_channels));
  return parts.bytes();
}

// Adds the products of a pixel of the input, whose weights are [channels of a group][out_channels].
void PlainInt8Conv2d::AddTap(const int8_t* pixel, const int8_t* weights, uint32_t* sums) const {
  const auto channels = static_cast<size_t>(spec_.out_channels);
  const auto of_input = static_cast<size_t>(spec_.in_channels / spec_.groups);
  const auto of_output = static_cast<size_t>(spec_.out_channels / spec_.groups);
  for (size_t first = 0; first < channels; first += of_output) {
    for (size_t i = 0; i < of_input; ++i) {
      const int32_t value = *pixel++ - spec_.zero_point;
      const int8_t* const weight = weights + i * channels;
      for (size_t c = first; c < first + of_output; ++c) sums[c] += Product(value, weight[c]);
    }
  }
}

// Taps outside the image are 0, and are left out.
void PlainInt8Conv2d::Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch,
                          int8_t* output) const {
  if (first == last) return;
  const auto channels = static_cast<size_t>(spec_.out_channels);
  ScratchParts parts(scratch);
  auto* const sums = parts.Take<uint32_t>(1, channels);
  const int64_t tap_weights = spec_.in_channels / spec_.groups * spec_.out_channels;
  OutputGrid::Position position = grid_.Locate(first);
  for (int64_t i = first; i < last; ++i, output += channels, grid_.Advance(position, 1)) {
    std::copy(output_.bias.begin(), output_.bias.end(), sums);
    grid_.ForInsideTaps(position, [&](int64_t tap, int64_t pixel) {
      AddTap(input + pixel * spec_.in_channels, filter_.data() + tap * tap_weights, sums);
    });
    ops_.round_sums(reinterpret_cast<const int32_t*>(sums), output_.multiplier.data(), channels,
                    output_.range, output_.zero_point, output);
  }
}

}  // namespace larq_engine
