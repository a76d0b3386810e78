// How fast whole convolutions are on packed data, one thread, beside the bound of this core:
//
//   bconv2d_bench [--json]      --json: for benchmarks/compare.py
//
// The layers A to D on every kernel row, bits in, bits or floats out. Each result is compared with
// that of the first row; a wrong one gets no time and the exit status is 1.
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "benchmarks/kernels/limits.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/kernels/bconv2d.h"
#include "larq_engine/kernels/pixel_ops_table.h"
#include "larq_engine/kernels/select.h"

namespace larq_engine::benchmarks {
namespace {

struct Layer {
  const char* name;
  int64_t size;
  int64_t channels;
};
constexpr Layer kLayers[] = {{"A", 56, 64}, {"B", 28, 128}, {"C", 14, 256}, {"D", 7, 512}};
constexpr int64_t kMacs = int64_t{56} * 56 * 64 * 64 * 9;  // of each

class Problem {
 public:
  Problem(const Layer& layer, OutputKind kind)
      : size_(layer.size),
        spec_{.in_channels = layer.channels,
              .out_channels = layer.channels,
              .filter_height = 3,
              .filter_width = 3,
              .padding = Padding::kSameOne},
        transform_(MakeTransform(kind)) {
    std::mt19937 random(1);
    const size_t words = WordsFor(static_cast<size_t>(layer.channels));
    input_ = AlignedBuffer<uint32_t>(static_cast<size_t>(size_ * size_) * words);
    filter_ = AlignedBuffer<uint32_t>(static_cast<size_t>(layer.channels) * 9 * words);
    std::generate_n(input_.data(), input_.size(), std::ref(random));
    std::generate_n(filter_.data(), filter_.size(), std::ref(random));
    output_ = AlignedBuffer<std::byte>(static_cast<size_t>(size_ * size_) *
                                       transform_.PixelBytes(static_cast<size_t>(layer.channels)));
  }

  void Use(const BgemmRow& row) {
    conv_ = std::make_unique<Bconv2d>(spec_, filter_.data(), transform_, row,
                                      SelectPixelOps(DetectCpuFeatures(), row.name));
    conv_->Resize(size_, size_);
    scratch_ = AlignedBuffer<std::byte>(conv_->scratch_bytes());
  }

  void Run(uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) {
      conv_->Run(input_.data(), 0, size_ * size_, 0, conv_->channel_blocks(), scratch_.data(),
                 output_.data());
    }
  }

  std::vector<std::byte> output() const {
    return {output_.data(), output_.data() + output_.size()};
  }

 private:
  OutputTransform MakeTransform(OutputKind kind) const {
    const size_t channels = static_cast<size_t>(spec_.out_channels);
    if (kind == OutputKind::kBits) {
      const std::vector<int32_t> threshold(channels, static_cast<int32_t>(spec_.depth() / 2));
      return MakeBitsTransform(threshold.data(), channels, spec_.depth());
    }
    const std::vector<float> multiplier(channels, 0.5f), bias(channels, 0.25f);
    return MakeFloatTransform(Activation::kRelu, multiplier.data(), bias.data(), channels);
  }

  int64_t size_;
  Bconv2dSpec spec_;
  OutputTransform transform_;
  AlignedBuffer<uint32_t> input_, filter_;
  AlignedBuffer<std::byte> output_, scratch_;
  std::unique_ptr<Bconv2d> conv_;
};

double LimitOf(Isa isa) {
  double best = 0;
  for (const Limit& limit : Limits()) {
    if (limit.isa != isa) continue;
    best =
        std::max(best, static_cast<double>(limit.macs_per_step) / MeasureBatches(limit.run).median);
  }
  return best;
}

int Main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 1 && !json) {
    std::fprintf(stderr, "unknown option %s; expected --json\n", argv[1]);
    return 2;
  }
  bool all_right = true;
  std::printf(json ? "{\"benchmark\": \"bconv2d\", \"results\": [" : "%-36s %-14s %9s %9s %6s\n",
              "", "", "us", "GMAC/s", "limit");
  const char* separator = "";
  for (const BgemmRow& row : BgemmRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;
    const double limit = LimitOf(row.isa);
    for (const OutputKind kind : {OutputKind::kBits, OutputKind::kFloat}) {
      const char* out = kind == OutputKind::kBits ? "bits" : "float";
      for (const Layer& layer : kLayers) {
        Problem problem(layer, kind);
        problem.Use(BgemmRows()[0]);
        problem.Run(1);
        const std::vector<std::byte> expected = problem.output();
        problem.Use(row);
        problem.Run(1);
        if (problem.output() != expected) {
          std::fprintf(stderr, "%s, layer %s, %s out: differs from %s: not timed\n", row.name,
                       layer.name, out, BgemmRows()[0].name);
          all_right = false;
          continue;
        }
        const Timing time = MeasureBatches([&](uint64_t times) { problem.Run(times); });
        const double rate = static_cast<double>(kMacs) / time.median;
        const double part = limit > 0 ? rate / limit : 0;
        if (json) {
          std::printf(
              "%s\n  {\"case\": \"%s %s\", \"subject\": \"%s\", \"macs\": %lld, \"median_ns\": "
              "%.0f, \"quartiles_ns\": [%.0f, %.0f], \"gmac_per_s\": %.1f, \"of_limit\": %.4f}",
              separator, layer.name, out, row.name, static_cast<long long>(kMacs), time.median,
              time.low, time.high, rate, part);
          separator = ",";
        } else {
          std::printf("%-36s %s bits->%-6s %9.1f %9.1f %5.1f%%\n", row.name, layer.name, out,
                      time.median / 1e3, rate, 100 * part);
        }
      }
    }
  }
  if (json) std::printf("]}\n");
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main(int argc, char** argv) { return larq_engine::benchmarks::Main(argc, argv); }
