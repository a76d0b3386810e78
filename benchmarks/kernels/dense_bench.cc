// How near dense layers of one pixel come to reading their weights once, one thread:
//
//   dense_bench
//
// The multilayer perceptron of the paper on Espresso, 784-4096-4096-4096-10, on packed data: bits
// between the layers, floats at the end. Beside each row the time of a loop that reads as many
// bytes and does nothing else; both find the weights in the same cache.
// Results are compared with those of the first row; a wrong one gets no time and the exit status
// is 1.
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "benchmarks/kernels/limits.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/kernels/bconv2d.h"
#include "larq_engine/kernels/kernel_table.h"
#include "larq_engine/kernels/pixel_ops_table.h"

namespace larq_engine::benchmarks {
namespace {

constexpr int64_t kWidths[] = {784, 4096, 4096, 4096, 10};
constexpr size_t kLayers = std::size(kWidths) - 1;

// Of made-up weights and input.
class Perceptron {
 public:
  explicit Perceptron(const BgemmRow& row) {
    std::mt19937 random(1);
    for (size_t i = 0; i < kLayers; ++i) {
      const Bconv2dSpec spec{.in_channels = kWidths[i], .out_channels = kWidths[i + 1]};
      const size_t words = spec.tap_words();
      const auto outputs = static_cast<size_t>(spec.out_channels);
      std::vector<uint32_t> filter(outputs * words);
      for (size_t at = 0; at < filter.size(); ++at) {
        filter[at] = static_cast<uint32_t>(random());
        if ((at + 1) % words == 0) filter[at] &= TailMask(static_cast<size_t>(spec.in_channels));
      }
      OutputTransform transform;
      if (i + 1 < kLayers) {
        const std::vector<int32_t> threshold(outputs, static_cast<int32_t>(spec.depth() / 2));
        transform = MakeBitsTransform(threshold.data(), outputs, spec.depth());
      } else {
        const std::vector<float> multiplier(outputs, 0.5f), bias(outputs, 0.25f);
        transform = MakeFloatTransform(Activation::kNone, multiplier.data(), bias.data(), outputs);
      }
      values_.emplace_back(words);
      weight_bytes_ += outputs * words * sizeof(uint32_t);
      layers_.push_back(std::make_unique<Bconv2d>(spec, filter.data(), transform, row,
                                                  SelectPixelOps(DetectCpuFeatures(), row.name)));
      layers_.back()->Resize(1, 1);
      scratch_bytes_ = std::max(scratch_bytes_, layers_.back()->scratch_bytes());
    }
    std::generate_n(values_[0].data(), values_[0].size(), std::ref(random));
    values_[0].data()[values_[0].size() - 1] &= TailMask(static_cast<size_t>(kWidths[0]));
    values_.emplace_back(static_cast<size_t>(kWidths[kLayers]));
    scratch_ = AlignedBuffer<std::byte>(scratch_bytes_);
  }

  size_t weight_bytes() const { return weight_bytes_; }

  void Run(uint64_t times) {
    for (uint64_t t = 0; t < times; ++t) {
      for (size_t i = 0; i < kLayers; ++i) {
        layers_[i]->Run(values_[i].data(), 0, 1, 0, layers_[i]->channel_blocks(), scratch_.data(),
                        reinterpret_cast<std::byte*>(values_[i + 1].data()));
      }
    }
  }

  std::vector<uint32_t> output() const {
    return {values_.back().data(), values_.back().data() + values_.back().size()};
  }

 private:
  size_t weight_bytes_ = 0;
  size_t scratch_bytes_ = 0;
  std::vector<std::unique_ptr<Bconv2d>> layers_;
  std::vector<AlignedBuffer<uint32_t>> values_;
  AlignedBuffer<std::byte> scratch_;
};

int Main() {
  bool all_right = true;
  std::printf("%-36s %9s %9s %9s %6s\n", "", "us", "read, us", "GB/s", "ratio");
  Perceptron first(BgemmRows()[0]);
  first.Run(1);
  for (const BgemmRow& row : BgemmRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;
    Perceptron perceptron(row);
    perceptron.Run(1);
    if (perceptron.output() != first.output()) {
      std::fprintf(stderr, "%s: differs from %s: not timed\n", row.name, BgemmRows()[0].name);
      all_right = false;
      continue;
    }
    // Written, or all of its pages would be the one page of zeros.
    AlignedBuffer<std::byte> weights(perceptron.weight_bytes());
    std::fill_n(weights.data(), weights.size(), std::byte{1});
    const Timing time = MeasureBatches([&](uint64_t times) { perceptron.Run(times); });
    const Timing read = MeasureBatches([&](uint64_t times) {
      for (uint64_t i = 0; i < times; ++i) ReadMemory(weights.data(), weights.size());
    });
    std::printf("%-36s %9.1f %9.1f %9.1f %6.2f\n", row.name, time.median / 1e3, read.median / 1e3,
                static_cast<double>(weights.size()) / read.median, time.median / read.median);
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main() { return larq_engine::benchmarks::Main(); }
