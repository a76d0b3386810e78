// Measures each micro-kernel row with its operands in L1, beside the bound of this core:
//
//   bgemm_bench [--limits] [--json]     --limits: the bounds only; --json: for
//   benchmarks/compare.py
//
// Every row is checked against a plain loop first; a wrong one gets no time, and the exit status is
// 1. Depths are those of the layers in benchmarks/shapes.py; the packed right side is cut to half
// of a 32 KiB L1. A row that looks up counts gets the four blocks that it reads together, with the
// part of the depth that fits in L1.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "benchmarks/kernels/limits.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/binary/pack_rhs.h"
#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"

namespace larq_engine::benchmarks {
namespace {

struct Depth {
  const char* layer;
  size_t channels;
};
constexpr Depth kDepths[] = {{"A", 64}, {"B", 128}, {"C", 256}, {"D", 512}};
constexpr size_t kTaps = 9;
constexpr size_t kL1Words = 16 * 1024 / sizeof(uint32_t);

#if defined(__clang__)
constexpr char kCompiler[] = "clang " __clang_version__;
#else
constexpr char kCompiler[] = "gcc " __VERSION__;
#endif

// Operands of one tile in the form that the convolution passes: a run for each tap if the tap's
// words are whole steps of the row, and otherwise a run of all taps that is filled up with zero
// bits.
class Problem {
 public:
  Problem(const BgemmRow& row, const Depth& depth)
      : row_(row), k_words_(kTaps * depth.channels / kWordBits) {
    const size_t mr = static_cast<size_t>(row.mr), nr = static_cast<size_t>(row.nr);
    const size_t tap_words = depth.channels / kWordBits;
    const bool in_place = tap_words % row.kr_words() == 0;
    const size_t segments = in_place ? kTaps : 1;
    const size_t segment_words = in_place ? tap_words : RoundUp(k_words_, row.kr_words());
    const size_t stride = segments * segment_words;
    const size_t in_l1 = row.rhs != RhsForm::kWords ? 4 * nr : kL1Words / stride;
    n_ = std::min(depth.channels, std::max<size_t>(1, in_l1 / nr) * nr);

    std::mt19937 random(1);
    left_ = AlignedBuffer<uint32_t>(mr * stride);
    std::fill_n(left_.data(), left_.size(), 0);
    for (size_t i = 0; i < mr; ++i) {
      std::generate_n(left_.data() + i * stride, k_words_, std::ref(random));
    }
    right_ = AlignedBuffer<uint32_t>(n_ * k_words_);
    std::generate_n(right_.data(), right_.size(), std::ref(random));
    packed_ = AlignedBuffer<uint32_t>(PackedRhsWords(row, n_, k_words_));
    PackRhs(row, right_.data(), n_, k_words_, packed_.data());
    for (size_t s = 0; s < segments; ++s) {
      for (size_t i = 0; i < mr; ++i)
        runs_.push_back(static_cast<ptrdiff_t>(i * stride + s * segment_words));
    }
    acc_ = AlignedBuffer<int32_t>(mr * n_);
    args_ = {.m = mr,
             .n = n_,
             .segments = segments,
             .segment_words = segment_words,
             .lhs_base = left_.data(),
             .lhs = runs_.data(),
             .rhs = packed_.data(),
             .acc = acc_.data(),
             .acc_stride = n_};
  }

  uint64_t macs() const { return args_.m * n_ * k_words_ * kWordBits; }

  void Run(uint64_t times) const {
    for (uint64_t i = 0; i < times; ++i) row_.fn(args_);
  }

  // Compares the product with one counted word by word; reports a difference on stderr.
  bool IsRight() const {
    Run(1);
    const size_t stride = args_.segments * args_.segment_words;
    for (size_t i = 0; i < args_.m; ++i) {
      for (size_t j = 0; j < n_; ++j) {
        int expected = 0;
        for (size_t k = 0; k < k_words_; ++k) {
          expected += std::popcount(left_.data()[i * stride + k] ^ right_.data()[j * k_words_ + k]);
        }
        const int got = acc_.data()[i * n_ + j];
        if (got != expected) {
          std::fprintf(stderr, "%s: acc[%zu][%zu] is %d, expected %d: not timed\n", row_.name, i, j,
                       got, expected);
          return false;
        }
      }
    }
    return true;
  }

 private:
  const BgemmRow& row_;
  size_t k_words_;
  size_t n_;
  AlignedBuffer<uint32_t> left_, right_, packed_;
  std::vector<ptrdiff_t> runs_;
  AlignedBuffer<int32_t> acc_;
  BgemmArgs args_;
};

struct LimitResult {
  const char* name;
  Isa isa;
  double gmac_per_s;
};

struct RowResult {
  const char* name;
  Isa isa;
  Depth depth;
  uint64_t macs;
  Timing time;
  double gmac_per_s() const { return static_cast<double>(macs) / time.median; }
};

struct Report {
  double gigahertz = 0;
  std::vector<LimitResult> limits;
  std::vector<RowResult> rows;
  std::vector<const char*> rows_not_run;  // rows whose instructions this CPU lacks
  bool all_right = true;

  // Returns the rate as a part of the bound of the row's ISA; 0 if there is no bound.
  double OfLimit(const RowResult& row) const {
    for (const LimitResult& limit : limits) {
      if (limit.isa == row.isa) return row.gmac_per_s() / limit.gmac_per_s;
    }
    return 0;
  }
};

Report Measure(const CpuFeatures& cpu, bool with_rows) {
  Report report;
  report.gigahertz = MeasureGigahertz();
  for (const Limit& limit : Limits()) {
    if (!cpu.Has(limit.isa)) continue;
    const Timing time = MeasureBatches(limit.run);
    report.limits.push_back(
        {limit.name, limit.isa, static_cast<double>(limit.macs_per_step) / time.median});
  }
  if (!with_rows) return report;
  for (const BgemmRow& row : BgemmRows()) {
    if (!cpu.Has(row.isa)) {
      report.rows_not_run.push_back(row.name);
      continue;
    }
    for (const Depth& depth : kDepths) {
      const Problem problem(row, depth);
      if (!problem.IsRight()) {
        report.all_right = false;
        continue;
      }
      const Timing time = MeasureBatches([&](uint64_t times) { problem.Run(times); });
      report.rows.push_back({row.name, row.isa, depth, problem.macs(), time});
    }
  }
  return report;
}

void PrintTable(const Report& report) {
  std::printf("clock %.2f GHz, compiler %s\n", report.gigahertz, kCompiler);
  std::printf("%-34s %-10s %10s %10s %10s\n", "", "depth", "GMAC/s", "MAC/cycle", "of limit");
  for (const LimitResult& limit : report.limits) {
    std::printf("limit %-28s %-10s %10.1f %10.1f\n", limit.name, "", limit.gmac_per_s,
                limit.gmac_per_s / report.gigahertz);
  }
  for (const RowResult& row : report.rows) {
    std::printf("%-34s %s %-8zu %10.1f %10.1f", row.name, row.depth.layer,
                kTaps * row.depth.channels, row.gmac_per_s(), row.gmac_per_s() / report.gigahertz);
    if (const double part = report.OfLimit(row); part > 0) std::printf(" %9.1f%%", 100 * part);
    std::printf("\n");
  }
  for (const char* name : report.rows_not_run) {
    std::printf("%-34s not run: this CPU lacks its instructions\n", name);
  }
}

// Prints the choice of a row for each layer, to show if the table's macs_per_cycle still fits what
// was measured.
void PrintChoices(const CpuFeatures& cpu) {
  for (const Depth& depth : kDepths) {
    const auto channels = static_cast<int64_t>(depth.channels);
    const BgemmShape shape{.n = channels, .k_bits = channels * static_cast<int64_t>(kTaps)};
    std::printf("choice for layer %s\n%s", depth.layer,
                ExplainBgemm(BgemmRows(), cpu, shape).c_str());
  }
}

void PrintJson(const Report& report) {
  std::printf("{\"benchmark\": \"bgemm\", \"compiler\": \"%s\", \"gigahertz\": %.3f,\n", kCompiler,
              report.gigahertz);
  std::printf(" \"limits\": [");
  const char* separator = "";
  for (const LimitResult& limit : report.limits) {
    std::printf("%s\n  {\"name\": \"%s\", \"gmac_per_s\": %.2f}", separator, limit.name,
                limit.gmac_per_s);
    separator = ",";
  }
  std::printf("],\n \"results\": [");
  separator = "";
  for (const RowResult& row : report.rows) {
    std::printf(
        "%s\n  {\"case\": \"%s\", \"subject\": \"%s\", \"macs\": %llu, \"median_ns\": %.2f, "
        "\"quartiles_ns\": [%.2f, %.2f], \"gmac_per_s\": %.2f",
        separator, row.depth.layer, row.name, static_cast<unsigned long long>(row.macs),
        row.time.median, row.time.low, row.time.high, row.gmac_per_s());
    if (const double part = report.OfLimit(row); part > 0) {
      std::printf(", \"of_limit\": %.3f", part);
    }
    std::printf("}");
    separator = ",";
  }
  std::printf("],\n \"not_run\": [");
  separator = "";
  for (const char* name : report.rows_not_run) {
    std::printf("%s\"%s\"", separator, name);
    separator = ", ";
  }
  std::printf("]}\n");
}

int Main(int argc, char** argv) {
  bool json = false, with_rows = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--json") {
      json = true;
    } else if (option == "--limits") {
      with_rows = false;
    } else {
      std::fprintf(stderr, "unknown option %s; expected --limits or --json\n", argv[i]);
      return 2;
    }
  }
  const CpuFeatures cpu = DetectCpuFeatures();
  const Report report = Measure(cpu, with_rows);
  if (json) {
    PrintJson(report);
  } else {
    PrintTable(report);
    if (with_rows) PrintChoices(cpu);
  }
  return report.all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main(int argc, char** argv) { return larq_engine::benchmarks::Main(argc, argv); }
