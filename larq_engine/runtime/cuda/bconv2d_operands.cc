#include "larq_engine/runtime/cuda/bconv2d_operands.h"

#include <algorithm>
#include <bit>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/cuda/bconv2d_epilogues.h"

namespace larq_engine {
namespace {

// The multiple of words to which rows of a filter are padded: kernels copy 64 bytes of a row at a
// time.
constexpr size_t kRowWords = 16;

}  // namespace

size_t FilterWords(const Bconv2dSpec& spec) {
  return RoundUp(static_cast<size_t>(spec.window.taps()) * spec.tap_words(), kRowWords);
}

std::vector<uint32_t> PadFilter(const Bconv2dSpec& spec, const uint32_t* filter) {
  const auto channels = static_cast<size_t>(spec.out_channels);
  const auto planes = static_cast<size_t>(spec.bits_weights);
  const size_t words = spec.tap_words();
  const size_t row = FilterWords(spec);
  std::vector<uint32_t> padded(planes * channels * row);
  for (size_t n = 0; n < channels; ++n) {
    for (size_t tap = 0; tap < static_cast<size_t>(spec.window.taps()); ++tap) {
      for (size_t plane = 0; plane < planes; ++plane, filter += words) {
        std::copy_n(filter, words, padded.data() + (plane * channels + n) * row + tap * words);
      }
    }
  }
  return padded;
}

std::vector<int32_t> FilterOnes(const Bconv2dSpec& spec, const uint32_t* filter) {
  std::vector<int32_t> ones(static_cast<size_t>(spec.out_channels));
  for (int32_t& own : ones) {
    for (int64_t tap = 0; tap < spec.window.taps(); ++tap) {
      for (int64_t plane = 0; plane < spec.bits_weights; ++plane) {
        for (size_t w = 0; w < spec.tap_words(); ++w) own += std::popcount(*filter++) << plane;
      }
    }
    own *= static_cast<int32_t>(LargestOf(spec.bits_in));
  }
  return ones;
}

std::vector<int32_t> ZeroDots(const Bconv2dSpec& spec, std::vector<int32_t> filter_ones) {
  for (int32_t& own : filter_ones) own = static_cast<int32_t>(spec.max_dot() - 2 * int64_t{own});
  return filter_ones;
}

std::vector<int32_t> ExcessLimits(const Bconv2dSpec& spec, const std::vector<int32_t>& dot_limit,
                                  std::vector<int32_t> filter_ones) {
  const auto depth = static_cast<int32_t>(spec.max_dot());
  std::transform(
      dot_limit.begin(), dot_limit.end(), filter_ones.begin(), filter_ones.begin(),
      [&](int32_t limit, int32_t ones) { return cuda::ExcessLimit(depth, limit, ones); });
  return filter_ones;
}

cuda::Bconv2dArgs MakeGeometry(const Bconv2dSpec& spec, const std::vector<int>& in) {
  const auto [height, width] = spec.window.Over(in[1], in[2]);
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
  args.group_out_channels = small(spec.group_out_channels());
  args.tap_words = small(spec.tap_words());
  args.filter_words = small(FilterWords(spec));
  args.filter_height = small(height.taps);
  args.filter_width = small(width.taps);
  args.stride_height = small(height.stride);
  args.stride_width = small(width.stride);
  args.dilation_height = small(height.dilation);
  args.dilation_width = small(width.dilation);
  args.pad_top = small(height.pad_before);
  args.pad_left = small(width.pad_before);
  args.tap_dot = small(spec.group_in_channels() * spec.max_product());
  args.bits_in = small(spec.bits_in);
  args.bits_weights = small(spec.bits_weights);
  args.plane_words = small(spec.plane_words());
  args.divisors = cuda::DivisorsOf(args);
  return args;
}

}  // namespace larq_engine
