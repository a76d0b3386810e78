// Runs HEP-BNN's kernels on the emulated GPU, against the reference, and tests what their launches
// refuse.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/placing/hep_kernel.h"
#include "benchmarks/placing/hep_rows.h"
#include "gtest/gtest.h"
#include "tests/common/seed.h"
#include "tests/kernels/cuda/bconv2d_case.h"

namespace larq_engine::testing {
namespace {

using cuda::Bconv2dArgs;
using cuda::Bconv2dRow;
using emulated_gpu::Options;

struct Hep {
  std::string name;
  Bconv2dRow row;
  void (*run)(const Bconv2dArgs& args);
};

// The engine's tables have only shipped kernels, so these kernels have no KernelId.
template <cuda::HepMapping kMapping>
Hep Make(const char* name) {
  return {name, cuda::HepRow<kMapping>({}), cuda::Bconv2dHep<kMapping>};
}

const Hep kHep[] = {Make<cuda::kHepX>("x"),    Make<cuda::kHepY>("y"),   Make<cuda::kHepZ>("z"),
                    Make<cuda::kHepXy>("xy"),  Make<cuda::kHepXz>("xz"), Make<cuda::kHepYz>("yz"),
                    Make<cuda::kHepXyz>("xyz")};

class Device : public GuardedDevice {
 public:
  Device(const Hep& hep, const Options& options) : hep_(hep), options_(options) {}

  void Launch(const Bconv2dRow& row, const Bconv2dArgs& args) override {
    const cuda::LaunchSize size = row.size(args, {});
    emulated_gpu::Launch([&] { hep_.run(args); }, {static_cast<unsigned>(size.blocks)},
                         {size.threads}, size.shared_bytes, options_);
  }

 private:
  const Hep& hep_;
  Options options_;
};

bool TakeAll(const GpuLayer& layer) {
  return std::ranges::all_of(
      kHep, [&](const Hep& hep) { return hep.row.refusal(ShapeOf(layer)) == nullptr; });
}

TEST(Hep, EqualsTheReference) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  for (int left = (IsFull() ? 100 : 20) / kShare; left > 0;) {
    const GpuLayer layer = RandomLayer(random);
    if (!TakeAll(layer)) continue;  // the layer has several bits
    --left;
    const GpuCase gpu_case(layer, random);
    for (const Hep& hep : kHep) {
      Device device(hep, {.order = static_cast<Options::Order>(random() % 5), .seed = random()});
      ASSERT_EQ(gpu_case.Run(hep.row, device), "") << hep.name;
    }
  }
}

GpuLayer Square(int64_t size, int64_t in_channels, int64_t out_channels, int64_t filter) {
  GpuLayer layer;
  layer.height = layer.width = size;
  layer.spec.in_channels = in_channels;
  layer.spec.out_channels = out_channels;
  layer.spec.window = SquareWindow({.taps = filter, .padding = {.same = true}});
  return layer;
}

using Refusals = std::map<std::string, std::vector<std::string>>;  // keyed by their text

Refusals RefusalsOf(const GpuLayer& layer) {
  Refusals refusals;
  for (const Hep& hep : kHep) {
    const char* refusal = hep.row.refusal(ShapeOf(layer));
    refusals[refusal == nullptr ? "" : refusal].push_back(hep.name);
  }
  return refusals;
}

// The reasons why the paper's launches fail are named before a launch is tried.
TEST(Hep, RefusesWhatCannotBeLaunched) {
  const std::vector<std::string> all = {"x", "y", "z", "xy", "xz", "yz", "xyz"};
  const std::vector<std::string> with_y = {"y", "xy", "yz", "xyz"};
  EXPECT_EQ(RefusalsOf(Square(32, 32, 2, 3)), (Refusals{{"", all}}));
  EXPECT_EQ(RefusalsOf(Square(33, 32, 2, 3)),
            (Refusals{{"", with_y},
                      {"a block has a thread for each output pixel of an image, and there are more "
                       "than 1024",
                       {"x", "z", "xz"}}}));
  GpuLayer high = Square(1, 32, 2, 3);
  high.height = 1025;
  EXPECT_EQ(
      RefusalsOf(high)["a block has a thread for each output row, and there are more than 1024"],
      with_y);
  EXPECT_EQ(
      RefusalsOf(Square(1, 32, 1025, 1)),
      (Refusals{{"a block has a thread for each output, and there are more than 1024", all}}));
  GpuLayer levels = Square(3, 32, 8, 3);
  levels.spec.bits_in = 2;
  EXPECT_EQ(RefusalsOf(levels), (Refusals{{"values or weights have more than one bit", all}}));
}

}  // namespace
}  // namespace larq_engine::testing
