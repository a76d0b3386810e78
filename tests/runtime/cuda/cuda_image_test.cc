// Tests how the kernels for GPUs are found, and the errors if they are missing or do not match.
#include "larq_engine/runtime/cuda/cuda_image.h"

#include <gtest/gtest.h>

#include <string>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/version.h"
#include "tests/common/error_of.h"

namespace larq_engine {
namespace {

std::string ErrorOf(const std::string& path) {
  return testing::ErrorOf<OpError>([&] { OpenCudaImage(path); });
}

TEST(CudaImage, LiesBesideTheProgramThatTheEngineIsLinkedInto) {
  const std::string path = CudaImagePath();
  EXPECT_TRUE(path.ends_with("/runtime/cuda/liblarq_engine_cuda.so")) << path;
}

TEST(CudaImage, IsOpened) {
  const LarqEngineCudaImage& image = OpenCudaImage("tests/runtime/cuda/this_version.so");
  EXPECT_EQ(image.bytes, sizeof("kernels"));
  EXPECT_STREQ(static_cast<const char*>(image.data), "kernels");
}

TEST(CudaImage, MissingFileIsNamedWithTheRemedy) {
  EXPECT_EQ(ErrorOf("nowhere/liblarq_engine_cuda.so"),
            "expected the kernels for GPUs at 'nowhere/liblarq_engine_cuda.so', found no such "
            "file: install a larq_engine that comes with it, or build it where there is CUDA's "
            "compiler nvcc");
}

TEST(CudaImage, FileThatIsNoLibrary) {
  EXPECT_TRUE(ErrorOf("tests/runtime/cuda/cuda_interface.golden")
                  .starts_with("cannot open the kernels for GPUs: "
                               "tests/runtime/cuda/cuda_interface.golden: "));
}

TEST(CudaImage, AnotherLibrary) {
  EXPECT_EQ(ErrorOf("tests/runtime/cuda/not_kernels.so"),
            "'tests/runtime/cuda/not_kernels.so': expected the kernels for GPUs, got another "
            "library");
}

TEST(CudaImage, AnotherVersionNamesBoth) {
  EXPECT_EQ(ErrorOf("tests/runtime/cuda/other_version.so"),
            "'tests/runtime/cuda/other_version.so': expected the kernels of "
            "larq_engine " LARQ_ENGINE_VERSION
            ", got those of 0.0.1: install both libraries of one version");
}

}  // namespace
}  // namespace larq_engine
