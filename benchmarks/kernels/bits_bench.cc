// Whether SelectProduct picks the faster product, planes or bytes, for layers of few and of many
// bits:
//
//   bits_bench
//
// The layers A to D, bits in, floats out, in one thread, on the rows of this CPU. A * is before
// the row that is chosen among all, what follows the time is what the choice expects relative to
// the chosen row. Each result is compared with that of the first row; a wrong one gets no time and
// the exit status is 1.
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/kernels/conv_problem.h"
#include "benchmarks/kernels/timing.h"
#include "larq_engine/kernels/select_product.h"

namespace larq_engine::benchmarks {
namespace {

struct Bits {
  int64_t in;
  int64_t weights;
};
constexpr Bits kBits[] = {{1, 1}, {2, 1}, {3, 1}, {2, 2}, {4, 1}, {8, 1}, {4, 4}, {7, 7}, {8, 8}};

// Rows that are expected to take that many times as long as the chosen one are left out.
constexpr double kMostTimes = 8;

class Comparison {
 public:
  Comparison(const Layer& layer, const Bits& bits)
      : problem_(layer, OutputKind::kFloat, bits.in, bits.weights),
        chosen_(SelectProduct(DetectCpuFeatures(), problem_.spec())) {}

  template <typename Row>
  bool Add(const Row& row, const Row* chosen, double cycles) {
    if (!DetectCpuFeatures().Has(row.isa) || !PermitIsa(row.isa)) return true;
    if (cycles > kMostTimes * chosen_.cycles) return true;
    problem_.Use(row);
    problem_.Run(1);
    if (expected_.empty()) expected_ = problem_.output();
    if (problem_.output() != expected_) {
      std::fprintf(stderr, "%s differs from the first row: not timed\n", row.name);
      return false;
    }
    const double ns = MeasureBatches([&](uint64_t n) { problem_.Run(n); }).median;
    const std::string name = row.name;
    std::printf(" %s%s %.1f (%.2f)", &row == chosen ? "*" : "",
                (name.substr(0, 5) + name.substr(name.rfind('_'))).c_str(), ns / 1e3,
                cycles / chosen_.cycles);
    return true;
  }

  bool Run() {
    bool all_right = true;
    for (const BgemmRow& row : BgemmRows()) {
      all_right &= Add(row, chosen_.planes, PlanesCycles(row, problem_.spec()));
    }
    for (const ByteRow& row : ByteRows()) {
      all_right &= Add(row, chosen_.bytes, BytesCycles(DetectCpuFeatures(), row, problem_.spec()));
    }
    std::printf("\n");
    return all_right;
  }

 private:
  ConvProblem problem_;
  ProductChoice chosen_;
  std::vector<std::byte> expected_;
};

int Main() {
  bool all_right = true;
  std::printf("layer bits: microseconds of each row (expected, the chosen row being 1)\n");
  for (const Bits& bits : kBits) {
    for (const Layer& layer : kLayers) {
      std::printf("%s %lldx%lld:", layer.name, static_cast<long long>(bits.in),
                  static_cast<long long>(bits.weights));
      all_right &= Comparison(layer, bits).Run();
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main() { return larq_engine::benchmarks::Main(); }
