// Tests which devices begin a launch while the one before it still runs, and how this is turned
// off.
#include <gtest/gtest.h>

#include <cstdlib>

#include "larq_engine/runtime/cuda/cuda_device.h"
#include "larq_engine/version.h"
#include "tests/cuda/fake_driver/fake_driver.h"

namespace larq_engine {
namespace {

class EarlyLaunches : public ::testing::Test {
 protected:
  EarlyLaunches() {
    fake_cuda_reset();
    unsetenv("LARQ_ENGINE_EARLY_LAUNCHES");
  }
  ~EarlyLaunches() override { unsetenv("LARQ_ENGINE_EARLY_LAUNCHES"); }

  bool AreMadeFor(const char* answer) {
    setenv("LARQ_ENGINE_EARLY_LAUNCHES", answer, 1);
    return CudaDevice(driver_, *larq_engine_cuda_image(LARQ_ENGINE_VERSION), 0)
        .begins_launches_early();
  }

  const CudaDriver driver_ = LoadCudaDriver(testing::FindFakeCudaSymbol);
};

TEST_F(EarlyLaunches, AreMadeUnlessTheyAreTurnedOff) {
  const CudaDevice device(driver_, *larq_engine_cuda_image(LARQ_ENGINE_VERSION), 0);
  EXPECT_TRUE(device.begins_launches_early());
  EXPECT_TRUE(AreMadeFor("on"));
  EXPECT_FALSE(AreMadeFor("off"));
}

// An error would leave the GPU out wherever the engine chooses devices by itself.
TEST_F(EarlyLaunches, OtherAnswersTurnNothingOff) {
  EXPECT_TRUE(AreMadeFor("0"));
  EXPECT_TRUE(AreMadeFor(""));
}

}  // namespace
}  // namespace larq_engine
