// This program ends with 0 if every kernel of floats and bytes keeps what it has to:
// test_planted_faults.py compiles it with kernels that are broken on purpose.
#include <cstdio>
#include <random>
#include <string>

#include "tests/kernels/cuda/floats_case.h"
#include "tests/kernels/cuda/pixels_case.h"

namespace {

using namespace larq_engine;
using namespace larq_engine::testing;

class Contract {
 public:
  bool is_kept() const { return is_kept_; }

  // Runs a case `times` times, with other numbers and another order of threads and copies each
  // time. Does nothing once something is wrong.
  template <class Run>
  void Keep(int times, const Run& run) {
    for (int i = 0; i < times && is_kept_; ++i) {
      const std::string difference = run(random_);
      if (!difference.empty()) std::printf("%s\n", difference.c_str());
      is_kept_ = difference.empty();
    }
  }

 private:
  std::mt19937 random_{1};
  bool is_kept_ = true;
};

// Returns a window with more output pixels than a block has, and with pads on all sides.
cuda::ImageWindow Window(int filter_height, int filter_width, int channels, int stride) {
  return MakeWindow(2, 9, 10, channels, filter_height, filter_width, stride, stride, true);
}

// Returns a window with all pixels of an image, which are more than a part of a sum has.
cuda::ImageWindow Image(int channels) { return MakeWindow(2, 5, 7, channels, 5, 7, 5, 7, false); }

// Runs a case for each row: windows with 3 x 3 taps, with one tap, and with other numbers; with
// four channels at a time, and with one.
void KeepFloats(Contract& contract) {
  contract.Keep(6, [](auto& r) { return RunConv2d(r, Window(3, 3, 3, 2), 16); });
  contract.Keep(6, [](auto& r) { return RunConv2d(r, Window(3, 3, 8, 1), 36); });
  contract.Keep(4, [](auto& r) { return RunConv2d(r, Window(3, 3, 5, 1), 33); });
  contract.Keep(4, [](auto& r) { return RunConv2d(r, Window(2, 4, 2, 1), 5); });
  contract.Keep(6, [](auto& r) { return RunConv2d(r, Window(1, 1, 132, 1), 68); });
  contract.Keep(4, [](auto& r) { return RunConv2d(r, Window(1, 1, 7, 2), 5); });
  contract.Keep(4, [](auto& r) { return RunConv2d(r, PaddedPixels(2, 5, 6, 8), 12); });
  contract.Keep(2, [](auto& r) { return RunDepthwise(r, Window(3, 3, 36, 2), 1); });
  contract.Keep(2, [](auto& r) { return RunDepthwise(r, Window(3, 2, 12, 1), 1); });
  contract.Keep(2, [](auto& r) { return RunDepthwise(r, Window(3, 3, 5, 1), 3); });
  contract.Keep(6, [](auto& r) { return RunDepthwisePointwise(r, Window(3, 3, 36, 1), 40); });
  contract.Keep(3, [](auto& r) { return RunMaxPool(r, Window(2, 2, 36, 2)); });
  contract.Keep(3, [](auto& r) { return RunMaxPool(r, Window(3, 3, 12, 2)); });
  contract.Keep(3, [](auto& r) { return RunMaxPool(r, Window(4, 3, 37, 1)); });
  contract.Keep(2, [](auto& r) { return RunMaxPoolBits(r, Window(3, 2, 3, 2)); });
  for (const int filter : {2, 3}) {
    contract.Keep(3, [&](auto& r) {
      const cuda::ImageWindow pool = Window(filter, filter, 36, 1);
      return RunPooledDepthwise(r, pool, Window(3, 3, 36, 2));
    });
  }
  contract.Keep(2, [](auto& r) { return RunAveragePool(r, Window(2, 2, 12, 2)); });
  contract.Keep(2, [](auto& r) { return RunAveragePool(r, Window(3, 3, 36, 1)); });
  contract.Keep(2, [](auto& r) { return RunAveragePool(r, Window(4, 3, 37, 1)); });
  contract.Keep(2, [](auto& r) { return RunAveragePool(r, Image(36)); });
  contract.Keep(2, [](auto& r) { return RunAveragePool(r, Image(5)); });
  // The rows are more than one warp's and fewer than two warps'; the units reach into a second
  // word.
  for (const int depth : {100, 67}) {
    contract.Keep(2, [&](auto& r) { return RunSignedDense(r, 6, depth, 40); });
    contract.Keep(2, [&](auto& r) { return RunSignedDenseInt8(r, 6, depth, 40); });
  }
  for (const int depth : {64, 70}) {
    contract.Keep(4, [&](auto& r) { return RunBmatmul(r, 2, 3, 37, depth); });
  }
  contract.Keep(2, [](auto& r) { return RunSoftmax(r, 3, 100); });
}

void KeepPixels(Contract& contract) {
  for (const Source source : {Source::kFloats, Source::kBits, Source::kInt8, Source::kUint8}) {
    contract.Keep(2, [&](auto& r) { return RunPixels(r, source, 9, 36); });
    contract.Keep(2, [&](auto& r) { return RunPixels(r, source, 9, 37); });
  }
  contract.Keep(2, [](auto& r) { return RunPlanes(r, 3, 9, 36); });
  contract.Keep(1, [](auto& r) { return RunUnary(r); });
  for (const Packed packed : {Packed::kInt8, Packed::kBool, Packed::kPlanes}) {
    contract.Keep(2, [&](auto& r) { return RunPackBytes(r, packed, 9, 37); });
  }
  contract.Keep(2, [](auto& r) { return RunUnpackBytes(r, 9, 37); });
  for (const int unit_bytes : {1, 4}) {
    contract.Keep(2, [&](auto& r) { return RunCopyChannels(r, unit_bytes, 9); });
    contract.Keep(4, [&](auto& r) { return RunPadOut(r, unit_bytes); });
  }
  contract.Keep(4, [](auto& r) { return RunPadAround(r); });
  for (const bool multiplies : {false, true}) {
    contract.Keep(4, [&](auto& r) { return RunBroadcast(r, multiplies); });
  }
}

}  // namespace

int main() {
  Contract contract;
  KeepFloats(contract);
  KeepPixels(contract);
  return contract.is_kept() ? 0 : 1;
}
