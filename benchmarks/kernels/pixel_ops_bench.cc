// Measures each pixel op with its operands in L1, for every row:
//
//   pixel_ops_bench [--json]
//
// The unit is cycles for 1000 values, that is 1000 floats, int8s or packed bits. Rows of 64 and 256
// channels are those of the narrowest and of usual layers, with as many pixels as fit, up to one
// line of 56. Ops that make or take bits are measured at other widths too, up to the 256 pixels of
// a tile: such rows do not fill their words. tests/kernels/pixel_ops_test.cc checks the results of
// the ops.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/pixels/table.h"

namespace larq_engine::benchmarks {
namespace {

constexpr size_t kChannels[] = {64, 256};
constexpr size_t kPackedChannels[] = {1,  2,  3,  5,  7,  8,  9,  12, 16, 17, 24,
                                      31, 32, 33, 40, 48, 63, 64, 96, 97, 256};
// Three float operands of 12 KiB and their parameters fit the 32 KiB of the smallest L1s or nearly;
// one line of 56 pixels of 64 channels is 14 KiB.
constexpr size_t kMostValues = 56 * 64;

// Operands of all ops for one number of channels. Values are small, so that an op that is repeated
// in place never leaves the range of normal floats.
struct Operands {
  size_t channels;
  size_t rows;
  AlignedBuffer<float> a, b, y, slopes;
  AlignedBuffer<int8_t> ints;
  AlignedBuffer<uint32_t> words, out_words, signs;
  AlignedBuffer<int32_t> acc, depth, dot_limit;

  explicit Operands(size_t channel_count)
      : channels(channel_count),
        rows(std::min<size_t>(channels < 64 ? 256 : 56, kMostValues / channels)),
        a(count()),
        b(count()),
        y(count()),
        slopes(channels),
        ints(count()),
        words(rows * WordsFor(channels)),
        out_words(words.size()),
        signs(channels),
        acc(count()),
        depth(rows),
        dot_limit(channels) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> real(-1.5f, 1.5f);
    for (AlignedBuffer<float>* floats : {&a, &b, &y, &slopes}) {
      std::generate_n(floats->data(), floats->size(), [&] { return real(random); });
    }
    std::generate_n(ints.data(), count(), [&] { return static_cast<int8_t>(random()); });
    std::generate_n(words.data(), words.size(), std::ref(random));
    std::generate_n(signs.data(), channels, [&] { return random() & 0x80000000; });
    std::generate_n(acc.data(), count(), [&] { return static_cast<int32_t>(random() % 577); });
    std::fill_n(depth.data(), rows, 576);
    std::fill_n(dot_limit.data(), channels, 3);
  }

  size_t count() const { return rows * channels; }

  TransformArgs Args(int32_t dot_min, void* out, size_t out_stride) {
    return {.rows = rows,
            .channels = channels,
            .acc = acc.data(),
            .acc_stride = channels,
            .depth = depth.data(),
            .multiplier = slopes.data(),
            .bias = a.data(),
            .dot_min = dot_min,
            .dot_max = std::numeric_limits<int32_t>::max(),
            .zero_point = 3,
            .dot_limit = dot_limit.data(),
            .out = out,
            .out_stride = out_stride};
  }
};

struct Op {
  const char* name;
  void (*run)(const PixelOps& ops, Operands& o);
  std::span<const size_t> channels = kChannels;
};

constexpr FloatRange kRelu = {0, std::numeric_limits<float>::infinity()};
constexpr int32_t kNoMinimum = std::numeric_limits<int32_t>::min();

constexpr Op kOps[] = {
    {"to_float",
     [](const PixelOps& ops, Operands& o) {
       ops.to_float(o.Args(kNoMinimum, o.y.data(), o.channels * sizeof(float)));
     }},
    {"to_float relu",
     [](const PixelOps& ops, Operands& o) {
       ops.to_float(o.Args(0, o.y.data(), o.channels * sizeof(float)));
     }},
    {"to_float sum",
     [](const PixelOps& ops, Operands& o) {
       TransformArgs args = o.Args(kNoMinimum, o.y.data(), o.channels * sizeof(float));
       args.sum.addend = o.b.data();
       ops.to_float(args);
     }},
    {"to_float gated sum",
     [](const PixelOps& ops, Operands& o) {
       TransformArgs args = o.Args(kNoMinimum, o.y.data(), o.channels * sizeof(float));
       args.sum = {.addend = o.b.data(), .gate = o.slopes.data(), .slopes = o.slopes.data()};
       ops.to_float(args);
     }},
    {"to_int8", [](const PixelOps& ops,
                   Operands& o) { ops.to_int8(o.Args(kNoMinimum, o.ints.data(), o.channels)); }},
    {"to_bits",
     [](const PixelOps& ops, Operands& o) {
       ops.to_bits(o.Args(kNoMinimum, o.out_words.data(), WordsFor(o.channels) * sizeof(uint32_t)));
     },
     kPackedChannels},
    {"bitpack_float",
     [](const PixelOps& ops, Operands& o) {
       ops.bitpack_float(o.a.data(), o.rows, o.channels, o.out_words.data());
     },
     kPackedChannels},
    {"bitpack_float_limits",
     [](const PixelOps& ops, Operands& o) {
       ops.bitpack_float_limits(o.a.data(), o.slopes.data(), o.signs.data(), o.rows, o.channels,
                                o.out_words.data(), WordsFor(o.channels));
     },
     kPackedChannels},
    {"bitpack_int8",
     [](const PixelOps& ops, Operands& o) {
       ops.bitpack_int8(o.ints.data(), o.rows, o.channels, 3, o.out_words.data());
     },
     kPackedChannels},
    {"bitpack_bool",
     [](const PixelOps& ops, Operands& o) {
       ops.bitpack_bool(reinterpret_cast<const uint8_t*>(o.ints.data()), o.rows, o.channels,
                        o.out_words.data());
     },
     kPackedChannels},
    {"unpack_float",
     [](const PixelOps& ops, Operands& o) {
       ops.unpack_float(o.words.data(), o.rows, o.channels, o.y.data());
     },
     kPackedChannels},
    {"unpack_int8",
     [](const PixelOps& ops, Operands& o) {
       ops.unpack_int8(o.words.data(), o.rows, o.channels, 1, -1, o.ints.data());
     },
     kPackedChannels},
    {"unpack_bool",
     [](const PixelOps& ops, Operands& o) {
       ops.unpack_bool(o.words.data(), o.rows, o.channels,
                       reinterpret_cast<uint8_t*>(o.ints.data()));
     },
     kPackedChannels},
    // Pooling works pixel by pixel: each call has four taps.
    {"max_bits",
     [](const PixelOps& ops, Operands& o) {
       const size_t words = WordsFor(o.channels);
       for (size_t i = 0; i + 4 <= o.rows; i += 4) {
         const uint32_t* const in = o.words.data() + i * words;
         const uint32_t* const taps[] = {in, in + words, in + 2 * words, in + 3 * words};
         ops.max_bits(taps, 4, words, o.out_words.data() + i / 4 * words);
       }
     }},
    {"max_float",
     [](const PixelOps& ops, Operands& o) {
       for (size_t i = 0; i + 4 <= o.rows; i += 4) {
         const float* const in = o.a.data() + i * o.channels;
         const float* const taps[] = {in, in + o.channels, in + 2 * o.channels,
                                      in + 3 * o.channels};
         ops.max_float(taps, 4, o.channels, o.y.data() + i / 4 * o.channels);
       }
     }},
    {"max_products",
     [](const PixelOps& ops, Operands& o) {
       for (size_t i = 0; i + 4 <= o.rows; i += 4) {
         const float* const in = o.a.data() + i * o.channels;
         const float* const taps[] = {in, in + o.channels, in + 2 * o.channels,
                                      in + 3 * o.channels};
         ops.max_products(taps, 4, o.slopes.data(), o.channels, o.y.data() + i / 4 * o.channels);
       }
     }},
    {"add", [](const PixelOps& ops,
               Operands& o) { ops.add(o.a.data(), o.b.data(), o.count(), kRelu, o.y.data()); }},
    {"multiply",
     [](const PixelOps& ops, Operands& o) {
       ops.multiply(o.a.data(), o.b.data(), o.count(), kRelu, o.y.data());
     }},
    {"add_channels",
     [](const PixelOps& ops, Operands& o) {
       ops.add_channels(o.a.data(), o.slopes.data(), o.rows, o.channels, kRelu, o.y.data());
     }},
    {"multiply_channels",
     [](const PixelOps& ops, Operands& o) {
       ops.multiply_channels(o.a.data(), o.slopes.data(), o.rows, o.channels, kRelu, o.y.data());
     }},
    {"clamp",
     [](const PixelOps& ops, Operands& o) { ops.clamp(o.a.data(), o.count(), kRelu, o.y.data()); }},
    {"prelu",
     [](const PixelOps& ops, Operands& o) {
       ops.prelu(o.a.data(), o.slopes.data(), o.rows, o.channels, o.y.data());
     }},
};

struct Result {
  const char* op;
  size_t channels;
  Isa isa;
  size_t values;
  Timing time;
};

std::vector<Result> Measure(const CpuFeatures& cpu) {
  std::vector<Result> results;
  for (const Op& op : kOps) {
    for (size_t channels : op.channels) {
      Operands operands(channels);
      for (const PixelOpsRow& row : PixelOpsRows()) {
        if (!cpu.Has(row.isa)) continue;
        const Timing time = MeasureBatches([&](uint64_t times) {
          for (uint64_t i = 0; i < times; ++i) op.run(*row.ops, operands);
        });
        results.push_back({op.name, channels, row.isa, operands.count(), time});
      }
    }
  }
  return results;
}

void PrintTable(const CpuFeatures& cpu, const std::vector<Result>& results, double gigahertz) {
  std::printf("clock %.2f GHz; cycles for 1000 values\n%-20s%10s", gigahertz, "", "channels");
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (cpu.Has(row.isa)) std::printf("%12s", IsaName(row.isa));
  }
  for (const Result& r : results) {
    if (r.isa == results.front().isa) std::printf("\n%-20s%10zu", r.op, r.channels);
    std::printf("%12.1f", r.time.median * gigahertz * 1000 / static_cast<double>(r.values));
  }
  std::printf("\n");
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (!cpu.Has(row.isa)) {
      std::printf("%s not run: this CPU lacks its instructions\n", IsaName(row.isa));
    }
  }
}

void PrintJson(const std::vector<Result>& results, double gigahertz) {
  std::printf("{\"benchmark\": \"pixel_ops\", \"gigahertz\": %.3f,\n \"results\": [", gigahertz);
  const char* separator = "";
  for (const Result& r : results) {
    std::printf(
        "%s\n  {\"case\": \"%s %zu\", \"subject\": \"%s\", \"values\": %zu, \"median_ns\": %.2f, "
        "\"quartiles_ns\": [%.2f, %.2f]}",
        separator, r.op, r.channels, IsaName(r.isa), r.values, r.time.median, r.time.low,
        r.time.high);
    separator = ",";
  }
  std::printf("]}\n");
}

int Main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 1 && !json) {
    std::fprintf(stderr, "unknown option %s; expected --json\n", argv[1]);
    return 2;
  }
  const CpuFeatures cpu = DetectCpuFeatures();
  const double gigahertz = MeasureGigahertz();
  const std::vector<Result> results = Measure(cpu);
  if (json) {
    PrintJson(results, gigahertz);
  } else {
    PrintTable(cpu, results, gigahertz);
  }
  return 0;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main(int argc, char** argv) { return larq_engine::benchmarks::Main(argc, argv); }
