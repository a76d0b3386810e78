#include "tests/kernels/cuda/emulated_case.h"

#include <algorithm>
#include <cmath>

#include "tests/kernels/cuda/emulated_kernels.h"

namespace larq_engine::testing {

using cuda::PixelStep;

int Between(std::mt19937& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

std::vector<float> RandomFloats(std::mt19937& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    switch (random() % 16) {
      case 0:
        value = random() % 2 != 0 ? 0.0f : -0.0f;
        break;
      case 1:
        value = 1e-39f * static_cast<float>(random() % 9) - 4e-39f;
        break;
      case 2:
        value = std::ldexp(static_cast<float>(random() % 2001) - 1000.0f, 10);
        break;
      default:
        value = static_cast<float>(random() % 20001) / 10000.0f - 1.0f;
    }
  }
  return values;
}

int64_t BlocksOfThreads(int64_t items) { return (items + 127) / 128; }
int64_t BlocksOfWarps(int64_t pixels, int64_t channels) {
  return BlocksOfThreads(pixels * ((channels + 31) / 32) * 32);
}

void Launch(cuda::KernelId kernel, const void* args, int64_t blocks, std::mt19937& random,
            size_t shared_bytes) {
  emulated_gpu::Options options;
  options.order = static_cast<emulated_gpu::Options::Order>(random() % 5);
  options.seed = random();
  options.early_copies = random() % 2 != 0;
  const EmulatedKernel& emulated = *FindEmulatedKernel(cuda::RowOf(kernel).name);
  LaunchEmulated(emulated, args, {static_cast<unsigned>(blocks)}, {emulated.threads}, shared_bytes,
                 options);
}

Tail::Tail(std::mt19937& random, size_t pixels, size_t channels)
    : bias_(RandomFloats(random, channels)),
      bias_memory_(bias_),
      floats_(pixels * channels),
      bits_(pixels * ((channels + 31) / 32)) {}

cuda::PixelProgram Tail::Program() {
  cuda::PixelProgram program{};
  program.count = 2;
  program.steps[0] = {.kind = PixelStep::kAddChannels,
                      .min = -3.0f,
                      .max = 1e6f,
                      .values = bias_memory_.data(),
                      .out = nullptr};
  program.steps[1] = {.kind = PixelStep::kStore,
                      .min = 0.0f,
                      .max = 0.0f,
                      .values = nullptr,
                      .out = floats_.data()};
  program.bits = bits_.data();
  return program;
}

std::string Tail::Difference(const std::vector<float>& sums, const std::string& what,
                             bool has_bits) const {
  const size_t channels = bias_.size();
  const size_t words = (channels + 31) / 32;
  std::vector<float> expected(sums.size());
  std::vector<uint32_t> signs(sums.size() / channels * words);
  for (size_t i = 0; i < sums.size(); ++i) {
    const float y = sums[i] + bias_[i % channels];
    expected[i] = std::min(std::max(y, -3.0f), 1e6f);
    if (expected[i] < 0) signs[i / channels * words + i % channels / 32] |= 1u << i % channels % 32;
  }
  const std::string difference = floats_.Difference(expected, what);
  if (!difference.empty() || !has_bits) return difference;
  return bits_.Difference(signs, what + ", bits");
}

}  // namespace larq_engine::testing
