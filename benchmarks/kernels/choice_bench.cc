// Measures how much slower the chosen row is than the fastest one. It does so for this CPU, and as
// for CPUs that lack its highest ISAs:
//
//   choice_bench [NAME]
//
// Layers are binary convolutions with few and with many filters, few channels, long taps or
// strides, dense layers, and layers of several bits, on the rows of planes and of bytes; and float
// convolutions, int8 convolutions and dense layers with weights of a bit on their own rows. NAME is
// a part of the names of the layers to run. Results are compared with those of the first row; after
// a wrong one the exit status is 1.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/kernels/conv_problem.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/bytes/select.h"
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/float_conv2d.h"
#include "larq_engine/kernels/layers/int8_conv2d.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/layers/signed_dense.h"
#include "larq_engine/kernels/pixels/select.h"
#include "larq_engine/kernels/signed_sums/select.h"

namespace larq_engine::benchmarks {
namespace {

constexpr int kRounds = 3;  // rounds over all rows, so that a change of clock meets all of them

// Rows that take longer than the fastest by more than this factor are run once: portable ones take
// seconds.
constexpr double kSlowFactor = 8;

// A row that can compute a layer.
struct Candidate {
  std::string name;
  Isa isa;
  std::function<void()> use;  // prepares the row to run
  std::function<void(uint64_t times)> run;
  std::function<std::vector<std::byte>()> output;
};

struct Problem {
  std::string name;
  std::vector<Candidate> rows;
  std::function<std::string(CpuFeatures)> chosen;  // returns a row's name
};

// The largest loss in all layers on CPUs up to an ISA.
struct Loss {
  double ratio = 1;  // time of the chosen row to that of the fastest
  std::string layer;
};

class Losses {
 public:
  // Times the rows of a layer and prints them; returns false if a row's result is wrong.
  bool Add(const Problem& problem) {
    std::vector<double> times(problem.rows.size(), HUGE_VAL);
    std::vector<std::byte> expected;
    for (int round = 0; round < kRounds; ++round) {
      const double best = *std::min_element(times.begin(), times.end());
      for (size_t r = 0; r < problem.rows.size(); ++r) {
        const Candidate& row = problem.rows[r];
        if (round > 0 && times[r] > kSlowFactor * best) continue;
        row.use();
        if (round == 0) {
          row.run(1);
          if (r == 0) expected = row.output();
          if (row.output() != expected) {
            std::fprintf(stderr, "%s: %s differs from the first row\n", problem.name.c_str(),
                         row.name.c_str());
            return false;
          }
        }
        // The least of all rounds counts, as whatever else the machine does only adds time.
        times[r] = std::min(times[r], MeasureBatches(row.run).median);
      }
    }
    Print(problem, times);
    return true;
  }

  void PrintLargest() const {
    std::printf("\nlargest loss of a CPU up to an ISA:\n");
    for (const auto& [isa, loss] : largest_) {
      std::printf("  %-16s %5.1f %%  %s\n", IsaName(isa), 100 * (loss.ratio - 1),
                  loss.layer.c_str());
    }
  }

 private:
  void Print(const Problem& problem, std::span<const double> times) {
    std::printf("%-36s", problem.name.c_str());
    std::vector<Isa> isas;
    for (const Candidate& row : problem.rows) isas.push_back(row.isa);
    std::sort(isas.begin(), isas.end());
    isas.erase(std::unique(isas.begin(), isas.end()), isas.end());
    CpuFeatures cpu = {};
    if (DetectCpuFeatures().has_two_multipliers()) cpu.AddSecondMultiplier();
    if (DetectCpuFeatures().is_zen4()) cpu.SetZen4();
    for (const Isa isa : isas) {
      cpu.Add(isa);
      const std::string chosen = problem.chosen(cpu);
      double best = HUGE_VAL;
      double taken = HUGE_VAL;
      std::string fastest;
      for (size_t r = 0; r < times.size(); ++r) {
        if (!cpu.Has(problem.rows[r].isa)) continue;
        if (times[r] < best) fastest = problem.rows[r].name;
        best = std::min(best, times[r]);
        if (problem.rows[r].name == chosen) taken = times[r];
      }
      std::printf("  %s %.1f", chosen.c_str(), taken / 1e3);
      if (chosen != fastest) {
        std::printf(" (+%.0f %%, %s %.1f)", 100 * (taken / best - 1), fastest.c_str(), best / 1e3);
      }
      Loss& loss = largest_[isa];
      if (taken / best > loss.ratio) loss = {.ratio = taken / best, .layer = problem.name};
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  std::map<Isa, Loss> largest_;
};

bool Runs(Isa isa) { return DetectCpuFeatures().Has(isa) && PermitIsa(isa); }

// Returns a layer with the rows of both products of bits, in the direction that the engine takes.
Problem BinaryLayer(const std::string& name, Bconv2dSpec spec, int64_t height, int64_t width) {
  if (IsColumn(spec, width)) {
    spec = Transposed(spec);
    std::swap(height, width);
  }
  const auto conv = std::make_shared<ConvProblem>(spec, height, width, OutputKind::kFloat);
  Problem problem{.name = name, .rows = {}, .chosen = {}};
  const auto add = [&](const auto& row) {
    if (!Runs(row.isa)) return;
    problem.rows.push_back({.name = row.name,
                            .isa = row.isa,
                            .use = [conv, &row] { conv->Use(row); },
                            .run = [conv](uint64_t times) { conv->Run(times); },
                            .output = [conv] { return conv->output(); }});
  };
  for (const BgemmRow& row : BgemmRows()) add(row);
  for (const ByteRow& row : ByteRows()) add(row);
  problem.chosen = [spec, height, width](CpuFeatures cpu) {
    const bool one_pixel = spec.window.Over(height, width).out_pixels() == 1;
    const ProductChoice choice = SelectProduct(cpu, spec, kAutoKernel, one_pixel);
    return std::string(choice.planes != nullptr ? choice.planes->name : choice.bytes->name);
  };
  return problem;
}

constexpr FloatRange kAll = {-HUGE_VALF, HUGE_VALF};

template <typename T>
std::vector<T> RandomValues(size_t count, int least, int most) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> draw(least, most);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(draw(random));
  return values;
}

template <typename T>
std::vector<std::byte> BytesOf(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

// Returns a layer with the rows of another table. `make` returns a function that computes the layer
// once, on a row, and writes it to `output`.
template <typename Value, typename Row>
Problem LayerOfTable(
    const std::string& name, std::span<const Row> rows, int64_t outputs,
    const std::function<std::function<void()>(const Row& row, Value* output)>& make,
    std::function<std::string(CpuFeatures)> chosen) {
  const auto output = std::make_shared<std::vector<Value>>(static_cast<size_t>(outputs));
  const auto layer = std::make_shared<std::function<void()>>();
  Problem problem{.name = name, .rows = {}, .chosen = std::move(chosen)};
  for (const Row& row : rows) {
    if (!Runs(row.isa)) continue;
    problem.rows.push_back({.name = row.name,
                            .isa = row.isa,
                            .use = [=, &row] { *layer = make(row, output->data()); },
                            .run =
                                [layer](uint64_t times) {
                                  for (uint64_t i = 0; i < times; ++i) (*layer)();
                                },
                            .output = [output] { return BytesOf<Value>(*output); }});
  }
  return problem;
}

// Returns a function that runs `conv`, sized for a square image, on the whole image.
template <typename Value, typename Conv, typename... Blocks>
std::function<void()> WholeImage(std::shared_ptr<Conv> conv, std::vector<Value> input, int64_t size,
                                 int64_t pixels, Value* output, Blocks... blocks) {
  conv->Resize(size, size);
  const auto scratch = std::make_shared<AlignedBuffer<std::byte>>(conv->scratch_bytes());
  return [=, input = std::move(input)] {
    conv->Run(input.data(), 0, pixels, blocks..., scratch->data(), output);
  };
}

Problem FloatLayer(const std::string& name, const FloatConv2dSpec& spec, int64_t size) {
  const int64_t pixels = spec.window.Over(size, size).out_pixels();
  const auto filters = static_cast<size_t>(spec.out_channels);
  const auto make = [=](const FloatRow& row, float* output) {
    const auto filter = RandomValues<float>(filters * static_cast<size_t>(spec.depth()), -8, 8);
    const std::vector<float> bias(filters, 1.0f);
    const auto conv = std::make_shared<FloatConv2d>(spec, filter.data(), bias.data(), kAll, row);
    auto input = RandomValues<float>(static_cast<size_t>(size * size * spec.in_channels), -8, 8);
    return WholeImage(conv, std::move(input), size, pixels, output, 0, conv->channel_blocks());
  };
  return LayerOfTable<float, FloatRow>(name, FloatRows(), pixels * spec.out_channels, make,
                                       [](CpuFeatures cpu) { return SelectFloats(cpu).name; });
}

// Returns the rows that read all planes of int8 weights at once.
std::span<const ByteRow> Int8Rows() {
  static const std::vector<ByteRow> rows = [] {
    std::vector<ByteRow> found;
    for (const ByteRow& row : ByteRows()) {
      if (row.weight_planes >= 7) found.push_back(row);
    }
    return found;
  }();
  return rows;
}

Problem Int8Layer(const std::string& name, const Int8Conv2dSpec& spec, int64_t size) {
  const int64_t pixels = spec.window.Over(size, size).out_pixels();
  const auto filters = static_cast<size_t>(spec.out_channels);
  const auto make = [=](const ByteRow& row, int8_t* output) {
    const auto filter =
        RandomValues<int8_t>(filters * static_cast<size_t>(spec.depth()), -127, 127);
    const Int8Output to_int8{.bias = std::vector<int32_t>(filters, 3),
                             .multiplier = std::vector<float>(filters, 1e-3f),
                             .range = {-128, 127},
                             .zero_point = 0};
    const auto conv = std::make_shared<Int8Conv2d>(
        spec, filter.data(), to_int8, row,
        SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), row.name)));
    auto input =
        RandomValues<int8_t>(static_cast<size_t>(size * size * spec.in_channels), -128, 127);
    return WholeImage(conv, std::move(input), size, pixels, output);
  };
  return LayerOfTable<int8_t, ByteRow>(
      name, Int8Rows(), pixels * spec.out_channels, make,
      [spec](CpuFeatures cpu) { return SelectInt8(cpu, spec, kAutoKernel).name; });
}

Problem SignedLayer(const std::string& name, int64_t rows, int64_t depth, int64_t units) {
  const auto make = [=](const SignedSumsRow& row, float* output) -> std::function<void()> {
    const auto count = static_cast<size_t>(units);
    const auto bits =
        RandomValues<uint32_t>((count * static_cast<size_t>(depth) + 31) / 32, INT_MIN, INT_MAX);
    const auto weights = std::make_shared<SignedWeights>(bits.data(), count,
                                                         static_cast<size_t>(depth), FloatSignBit);
    const auto scratch =
        std::make_shared<AlignedBuffer<std::byte>>(SignedDenseScratch(*weights, sizeof(float)));
    const FloatDenseOutput to_floats{
        .scale = std::vector<float>(count, 1), .bias = std::vector<float>(count, 0), .range = kAll};
    return [=, &row, input = RandomValues<float>(static_cast<size_t>(rows * depth), -8, 8)] {
      RunSignedDense(*row.sums, *weights, to_floats, input.data(),
                     {0, static_cast<size_t>(rows), 0, weights->blocks()}, scratch->data(), output);
    };
  };
  return LayerOfTable<float, SignedSumsRow>(
      name, SignedSumsRows(), rows * units, make,
      [](CpuFeatures cpu) { return SelectSignedSums(cpu).name; });
}

std::string Text(int64_t number) { return std::to_string(number); }

std::vector<std::function<Problem()>> AllLayers() {
  std::vector<std::function<Problem()>> layers;
  const auto binary = [&](const std::string& kind, const Bconv2dSpec& spec, int64_t height,
                          int64_t width) {
    std::string name = kind + " " + Text(spec.window.height.taps) + "x" +
                       Text(spec.window.width.taps) + ", " + Text(spec.in_channels) + " to " +
                       Text(spec.out_channels);
    if (spec.has_planes())
      name += ", " + Text(spec.bits_in) + "x" + Text(spec.bits_weights) + " bits";
    layers.push_back([=] { return BinaryLayer(name, spec, height, width); });
  };
  const auto square = [](int64_t channels, int64_t filters, int64_t taps, int64_t bits_in = 1,
                         int64_t bits_weights = 1) {
    return Bconv2dSpec{.in_channels = channels,
                       .out_channels = filters,
                       .window = SquareWindow({.taps = taps, .padding = {.same = true}}),
                       .bits_in = bits_in,
                       .bits_weights = bits_weights};
  };
  // Narrow rows may beat fast ones in layers of few filters.
  for (const int64_t taps : {1, 3}) {
    for (const int64_t channels : {64, 256}) {
      for (const int64_t filters : {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128}) {
        binary("28x28", square(channels, filters, taps), 28, 28);
      }
    }
  }
  // Few channels leave most of a word empty, so taps are put together first.
  for (const int64_t channels : {1, 3, 8, 16, 24, 40}) {
    for (const int64_t taps : {1, 3, 5, 7}) {
      for (const int64_t filters : {16, 32, 64}) {
        binary("32x32", square(channels, filters, taps), 32, 32);
      }
    }
  }
  // Layers of sound have long taps in one dimension, as QuantConv1D has them.
  for (const int64_t channels : {1, 2, 4, 16, 40, 64}) {
    for (const int64_t taps : {9, 25, 80}) {
      for (const int64_t stride : {1, 4}) {
        Bconv2dSpec spec = square(channels, 32, taps);
        spec.window.width.taps = 1;
        spec.window.height.stride = stride;
        binary("4000x1 by " + Text(stride), spec, 4000, 1);
        binary("1x4000 by " + Text(stride), Transposed(spec), 1, 4000);
      }
    }
  }
  for (const int64_t channels : {3, 64, 128}) {
    Bconv2dSpec spec = square(channels, 64, 3);
    spec.window.height.stride = spec.window.width.stride = 2;
    binary("56x56 by 2", spec, 56, 56);
  }
  for (const int64_t inputs : {256, 784, 4096}) {
    for (const int64_t outputs : {10, 256, 1024}) {
      binary("dense", {.in_channels = inputs, .out_channels = outputs}, 1, 1);
      binary("dense",
             {.in_channels = inputs, .out_channels = outputs, .bits_in = 4, .bits_weights = 2}, 1,
             1);
      binary("dense",
             {.in_channels = inputs, .out_channels = outputs, .bits_in = 8, .bits_weights = 8}, 1,
             1);
    }
  }
  for (const auto& [bits_in, bits_weights] :
       {std::pair(2, 1), std::pair(2, 2), std::pair(4, 1), std::pair(8, 1), std::pair(4, 4)}) {
    for (const int64_t channels : {1, 3, 16, 64, 256}) {
      binary("14x14", square(channels, 64, 3, bits_in, bits_weights), 14, 14);
    }
    Bconv2dSpec sound = square(1, 32, 80, bits_in, bits_weights);
    sound.window.width.taps = 1;
    sound.window.height.stride = 4;
    binary("4000x1 by 4", sound, 4000, 1);
  }
  for (const int64_t channels : {3, 64}) {
    for (const int64_t filters : {4, 16, 64}) {
      for (const int64_t taps : {1, 3}) {
        const std::string name = "floats 28x28 " + Text(taps) + "x" + Text(taps) + ", " +
                                 Text(channels) + " to " + Text(filters);
        const FloatConv2dSpec spec{
            .in_channels = channels,
            .out_channels = filters,
            .window = SquareWindow({.taps = taps, .padding = {.same = true}})};
        layers.push_back([=] { return FloatLayer(name, spec, 28); });
      }
    }
  }
  layers.push_back([] {
    return FloatLayer("floats 28x28 3x3 of each, 64",
                      {.is_depthwise = true,
                       .in_channels = 64,
                       .out_channels = 64,
                       .window = SquareWindow({.taps = 3, .padding = {.same = true}})},
                      28);
  });
  for (const int64_t channels : {1, 3, 4}) {
    for (const int64_t filters : {8, 16, 32, 64}) {
      const std::string name = "int8 56x56 3x3, " + Text(channels) + " to " + Text(filters);
      const Int8Conv2dSpec spec{.in_channels = channels,
                                .out_channels = filters,
                                .window = SquareWindow({.taps = 3, .padding = {.same = true}})};
      layers.push_back([=] { return Int8Layer(name, spec, 56); });
    }
  }
  for (const int64_t rows : {1, 8}) {
    for (const int64_t depth : {64, 1024}) {
      const std::string name = "signs " + Text(rows) + " of " + Text(depth) + " to 256";
      layers.push_back([=] { return SignedLayer(name, rows, depth, 256); });
    }
  }
  return layers;
}

int Main(const std::string& part) {
  Losses losses;
  bool all_right = true;
  std::printf(
      "microseconds of the row that is chosen, for a CPU up to each ISA; in brackets what "
      "it loses, and to which row\n");
  for (const auto& layer : AllLayers()) {
    const Problem problem = layer();
    if (problem.name.find(part) == std::string::npos) continue;
    all_right &= losses.Add(problem);
  }
  losses.PrintLargest();
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main(int count, char** arguments) {
  return larq_engine::benchmarks::Main(count > 1 ? arguments[1] : "");
}
