// Tests the fake driver in the place of NVIDIA's, found by the dynamic loader, with the emulated
// kernels in a library of their own. Only the code that opens both is linked into the test.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "larq_engine/kernels/cuda/kernel_table.h"
#include "larq_engine/runtime/cuda/cuda_image.h"
#include "larq_engine/runtime/cuda/driver.h"

namespace larq_engine {
namespace {

TEST(FakeDriverAsALibrary, LoadsAllKernelsOfTheLibrary) {
  const CudaDriver& driver = OpenCudaDriver();
  EXPECT_EQ(&OpenCudaDriver(), &driver);
  EXPECT_EQ(driver.version, 12040) << "FAKE_CUDA_VERSION";
  const LarqEngineCudaImage& image = OpenCudaImage("tests/cuda/liblarq_engine_cuda.so");
  CUcontext context = nullptr;
  CUlibrary library = nullptr;
  driver.Call(driver.cuDevicePrimaryCtxRetain, &context, 0);
  driver.Call(driver.cuLibraryLoadData, &library, image.data, nullptr, nullptr, 0, nullptr, nullptr,
              0);
  ASSERT_FALSE(cuda::KernelRows().empty());
  for (const cuda::KernelRow& row : cuda::KernelRows()) {
    CUkernel kernel = nullptr;
    driver.Call(driver.cuLibraryGetKernel, &kernel, library, row.symbol);
  }
  driver.Call(driver.cuLibraryUnload, library);
  driver.Call(driver.cuDevicePrimaryCtxRelease, 0);
}

TEST(FakeDriverAsALibrary, IsControlledThroughTheLibrary) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto leaks = reinterpret_cast<uint64_t (*)()>(dlsym(library, "fake_cuda_leaks"));
  const auto calls = reinterpret_cast<uint64_t (*)()>(dlsym(library, "fake_cuda_calls"));
  ASSERT_NE(leaks, nullptr);
  ASSERT_NE(calls, nullptr);
  EXPECT_EQ(leaks(), 0u);
  EXPECT_GT(calls(), 0u);
}

}  // namespace
}  // namespace larq_engine
