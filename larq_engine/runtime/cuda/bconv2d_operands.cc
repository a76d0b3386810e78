#include "larq_engine/runtime/cuda/bconv2d_operands.h"

#include <algorithm>
#include <bit>

#include "larq_engine/kernels/bits.h"

namespace larq_engine {
namespace {

// A filter's rows are copied 64 bytes at a time.
constexpr size_t kRowWords = 16;

}  // namespace

size_t FilterWords(const Bconv2dSpec& spec) {
  return RoundUp(static_cast<size_t>(spec.taps()) * spec.tap_words(), kRowWords);
}

std::vector<uint32_t> PadFilter(const Bconv2dSpec& spec, const uint32_t* filter) {
  const size_t words = static_cast<size_t>(spec.taps()) * spec.tap_words();
  const size_t row = FilterWords(spec);
  std::vector<uint32_t> padded(static_cast<size_t>(spec.out_channels) * row);
  for (size_t n = 0; n < static_cast<size_t>(spec.out_channels); ++n) {
    std::copy_n(filter + n * words, words, padded.data() + n * row);
  }
  return padded;
}

std::vector<int32_t> FilterOnes(const Bconv2dSpec& spec, const uint32_t* filter) {
  const size_t words = static_cast<size_t>(spec.taps()) * spec.tap_words();
  std::vector<int32_t> ones(static_cast<size_t>(spec.out_channels));
  for (size_t n = 0; n < ones.size(); ++n) {
    for (size_t w = 0; w < words; ++w) ones[n] += std::popcount(filter[n * words + w]);
  }
  return ones;
}

cuda::Bconv2dArgs MakeGeometry(const Bconv2dSpec& spec, const std::vector<int>& in) {
  const WindowAxis height = spec.Height(in[1]);
  const WindowAxis width = spec.Width(in[2]);
  const auto small = [](auto value) { return static_cast<int32_t>(value); };
  cuda::Bconv2dArgs args{};
  args.pad_value = static_cast<int32_t>(spec.pad_value);
  args.batch = in[0];
  args.in_height = in[1];
  args.in_width = in[2];
  args.pixel_words = small(spec.pixel_words());
  args.out_height = small(height.out);
  args.out_width = small(width.out);
  args.out_channels = small(spec.out_channels);
  args.group_in_channels = small(spec.group_in_channels());
  args.group_out_channels = small(spec.group_out_channels());
  args.tap_words = small(spec.tap_words());
  args.filter_words = small(FilterWords(spec));
  args.filter_height = small(spec.filter_height);
  args.filter_width = small(spec.filter_width);
  args.stride_height = small(spec.stride_height);
  args.stride_width = small(spec.stride_width);
  args.dilation_height = small(spec.dilation_height);
  args.dilation_width = small(spec.dilation_width);
  args.pad_top = small(height.pad_before);
  args.pad_left = small(width.pad_before);
  return args;
}

}  // namespace larq_engine
