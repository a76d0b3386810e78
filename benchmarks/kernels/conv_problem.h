// Makes binary convolutions with made-up filters and inputs, among them the layers A to D, which
// the paper on LCE introduced.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_CONV_PROBLEM_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_CONV_PROBLEM_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/layers/bconv2d.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"

namespace larq_engine::benchmarks {

struct Layer {
  const char* name;
  int64_t size;
  int64_t channels;  // channels of the input
  int64_t filters;
  int64_t taps = 3;  // taps on each axis
};
inline constexpr Layer kLayers[] = {
    {"A", 56, 64, 64}, {"B", 28, 128, 128}, {"C", 14, 256, 256}, {"D", 7, 512, 512}};
inline constexpr int64_t kMacs = int64_t{56} * 56 * 64 * 64 * 9;  // MACs of each layer A to D

class ConvProblem {
 public:
  ConvProblem(const Layer& layer, OutputKind kind, int64_t bits_in = 1, int64_t bits_weights = 1)
      : ConvProblem({.in_channels = layer.channels,
                     .out_channels = layer.filters,
                     .window = SquareWindow({.taps = layer.taps, .padding = {.same = true}}),
                     .bits_in = bits_in,
                     .bits_weights = bits_weights},
                    layer.size, layer.size, kind) {}

  ConvProblem(const Bconv2dSpec& spec, int64_t height, int64_t width, OutputKind kind)
      : height_(height),
        width_(width),
        spec_(spec),
        out_pixels_(spec.window.Over(height, width).out_pixels()),
        transform_(MakeTransform(kind)) {
    const auto pixels = static_cast<size_t>(height * width);
    const auto taps = static_cast<size_t>(spec.out_channels * spec.window.taps());
    input_ = RandomBits(pixels * static_cast<size_t>(spec.bits_in * spec.groups));
    filter_ = RandomBits(taps * static_cast<size_t>(spec.bits_weights));
    output_ =
        AlignedBuffer<std::byte>(static_cast<size_t>(out_pixels_) *
                                 transform_.PixelBytes(static_cast<size_t>(spec.out_channels)));
  }

  const Bconv2dSpec& spec() const { return spec_; }

  // Makes the convolution use a row of either product.
  template <typename Row>
  void Use(const Row& row) {
    conv_ =
        std::make_unique<Bconv2d>(spec_, filter_.data(), transform_, row,
                                  SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), row.name)));
    conv_->Resize(height_, width_);
    scratch_ = AlignedBuffer<std::byte>(conv_->scratch_bytes());
  }

  const Bconv2d& conv() const { return *conv_; }

  // Runs a part of the convolution; the arguments are those of Bconv2d::Run.
  void RunPart(int64_t first, int64_t last, int64_t first_block, int64_t last_block) {
    const size_t pixel_bytes = transform_.PixelBytes(static_cast<size_t>(spec_.out_channels));
    conv_->Run(input_.data(), first, last, first_block, last_block, scratch_.data(),
               output_.data() + static_cast<size_t>(first) * pixel_bytes);
  }

  void Run(uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) RunPart(0, out_pixels_, 0, conv_->channel_blocks());
  }

  std::vector<std::byte> output() const {
    return {output_.data(), output_.data() + output_.size()};
  }

 private:
  OutputTransform MakeTransform(OutputKind kind) const {
    const size_t channels = static_cast<size_t>(spec_.out_channels);
    if (kind == OutputKind::kBits) {
      const std::vector<int32_t> threshold(channels, static_cast<int32_t>(spec_.max_dot() / 2));
      return MakeBitsTransform(threshold.data(), channels, spec_.max_dot());
    }
    const std::vector<float> multiplier(channels, 0.5f), bias(channels, 0.25f);
    return MakeFloatTransform(Activation::kRelu, multiplier.data(), bias.data(), channels);
  }

  // Returns bits of `runs` taps, in which those beyond the channels are 0.
  AlignedBuffer<uint32_t> RandomBits(size_t runs) {
    const size_t words = spec_.tap_words();
    AlignedBuffer<uint32_t> bits(runs * words);
    for (size_t i = 0; i < bits.size(); ++i) {
      bits.data()[i] = static_cast<uint32_t>(random_());
      const bool is_last = (i + 1) % words == 0;
      if (is_last) bits.data()[i] &= TailMask(static_cast<size_t>(spec_.group_in_channels()));
    }
    return bits;
  }

  std::mt19937 random_{1};
  int64_t height_;
  int64_t width_;
  Bconv2dSpec spec_;
  int64_t out_pixels_;
  OutputTransform transform_;
  AlignedBuffer<uint32_t> input_, filter_;
  AlignedBuffer<std::byte> output_, scratch_;
  std::unique_ptr<Bconv2d> conv_;
};

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_CONV_PROBLEM_H_
