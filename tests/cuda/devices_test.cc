// Tests larq_engine_devices with two GPUs of the fake driver and the emulated kernels beside the
// test.
#include <gtest/gtest.h>

#include <string>

#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

TEST(Devices, ALineForTheCpuAndForEachGpu) {
  std::string text(larq_engine_devices(nullptr, 0) + 1, '\0');
  ASSERT_EQ(larq_engine_devices(text.data(), text.size()), text.size() - 1);
  text.pop_back();
  std::string kernels = larq_engine_kernels();
  for (char& c : kernels) c = c == ',' ? ' ' : c;
  const std::string gpu =
      "Fake H200, compute capability 9.0, 132 multiprocessors, driver for CUDA 12.4, some times "
      "for device=auto are guesses: copies by several threads, operators that share a launch, "
      "dense "
      "layers whose weights are bits";
  EXPECT_EQ(text, "cpu: " + kernels + "\ncuda:0: " + gpu + "\ncuda:1: " + gpu);
}

TEST(Devices, AreCutToFit) {
  char text[5] = "....";
  EXPECT_GT(larq_engine_devices(text, sizeof(text)), sizeof(text));
  EXPECT_STREQ(text, "cpu:");
}

}  // namespace
}  // namespace larq_engine
