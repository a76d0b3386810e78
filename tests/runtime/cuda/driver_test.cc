// Tests how the driver is opened, and the errors if none fits.
#include "larq_engine/runtime/cuda/driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "larq_engine/runtime/ops/op_error.h"
#include "tests/common/error_of.h"

namespace larq_engine {
namespace {

using testing::ErrorOf;

// A driver that can only be asked for its functions. The fields describe its behaviour.
struct StubDriver {
  int version = 12040;
  std::string missing = {};  // name of a symbol or function
  bool missing_is_an_error = false;
  CUresult init = CUDA_SUCCESS;
  int inits = 0;
};
StubDriver stub;

CUresult StubInit(unsigned) {
  ++stub.inits;
  return stub.init;
}
CUresult StubVersion(int* version) {
  *version = stub.version;
  return CUDA_SUCCESS;
}
CUresult StubErrorName(CUresult result, const char** text) {
  *text = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : result == CUDA_ERROR_NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
                                               : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult StubErrorString(CUresult result, const char** text) {
  *text = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
          : result == CUDA_ERROR_NO_DEVICE     ? "no CUDA-capable device is detected"
                                               : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult StubFree(CUdeviceptr memory) { return static_cast<CUresult>(memory); }
void StubOther() {}

CUresult StubGetProcAddress(const char* name, void** function, int version, uint64_t flags,
                            CUdriverProcAddressQueryResult* status) {
  EXPECT_EQ(version, 12000);
  EXPECT_EQ(flags, 0u);
  *status = CU_GET_PROC_ADDRESS_SUCCESS;
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (name == stub.missing) {
    *function = nullptr;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return stub.missing_is_an_error ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
  }
  *function = is("cuInit")               ? reinterpret_cast<void*>(StubInit)
              : is("cuDriverGetVersion") ? reinterpret_cast<void*>(StubVersion)
              : is("cuGetErrorName")     ? reinterpret_cast<void*>(StubErrorName)
              : is("cuGetErrorString")   ? reinterpret_cast<void*>(StubErrorString)
              : is("cuMemFree")          ? reinterpret_cast<void*>(StubFree)
                                         : reinterpret_cast<void*>(StubOther);
  return CUDA_SUCCESS;
}

void* FindStub(const char* name) {
  if (name == stub.missing) return nullptr;
  if (std::strcmp(name, "cuDriverGetVersion") == 0) return reinterpret_cast<void*>(StubVersion);
  if (std::strcmp(name, "cuGetProcAddress_v2") == 0) {
    return reinterpret_cast<void*>(StubGetProcAddress);
  }
  ADD_FAILURE() << name << " was looked up by its symbol";
  return nullptr;
}

std::string LoadError(const StubDriver& driver) {
  stub = driver;
  return ErrorOf<OpError>([] { LoadCudaDriver(FindStub); });
}

// This test comes first, because the next ones open the driver.
TEST(CudaDriver, IsNotOpenedBeforeItIsAskedFor) {
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

TEST(CudaDriver, NoneOnThisMachine) {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "this machine has a driver";
  const std::string expected =
      "expected NVIDIA's driver for CUDA 12.0 or newer, got: libcuda.so.1: cannot open shared "
      "object file: No such file or directory; install the driver, or start the container with "
      "access to the GPU";
  EXPECT_EQ(ErrorOf<OpError>([] { OpenCudaDriver(); }), expected);
  EXPECT_EQ(ErrorOf<OpError>([] { OpenCudaDriver(); }), expected) << "the second time";
}

TEST(CudaDriver, TheOneOfThisMachine) {
  if (dlopen("libcuda.so.1", RTLD_LAZY) == nullptr) GTEST_SKIP() << "this machine has no driver";
  const CudaDriver& driver = OpenCudaDriver();
  EXPECT_EQ(&OpenCudaDriver(), &driver);
  int devices = 0;
  driver.Call(driver.cuDeviceGetCount, &devices);
  EXPECT_GT(devices, 0);
}

TEST(CudaDriver, AllFunctionsAreFoundAndTheDriverIsInitialized) {
  stub = {};
  const CudaDriver driver = LoadCudaDriver(FindStub);
  EXPECT_EQ(driver.version, 12040);
  EXPECT_EQ(driver.process, getpid());
  EXPECT_EQ(stub.inits, 1);
#define LARQ_ENGINE_CUDA_IS_THERE(function, parameters)     \
  EXPECT_NE(driver.function.pointer, nullptr) << #function; \
  EXPECT_STREQ(driver.function.name, #function);
  LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_IS_THERE)
  LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_IS_THERE)
#undef LARQ_ENGINE_CUDA_IS_THERE
}

TEST(CudaDriver, TooOld) {
  EXPECT_EQ(LoadError({.version = 11040, .missing = "cuGetProcAddress_v2"}),
            "expected NVIDIA's driver for CUDA 12.0 or newer, got one for CUDA 11.4: update the "
            "driver");
  EXPECT_EQ(stub.inits, 0);
}

TEST(CudaDriver, EachMissingFunctionIsNamed) {
  const auto missing = [](const std::string& name) {
    return "expected NVIDIA's driver for CUDA 12.0 or newer, got one for CUDA 12.4 without " +
           name + ": update the driver";
  };
  EXPECT_EQ(LoadError({.missing = "cuDriverGetVersion"}),
            "expected NVIDIA's driver for CUDA 12.0 or newer, got one that does not tell its "
            "version: update the driver");
  EXPECT_EQ(LoadError({.missing = "cuGetProcAddress_v2"}), missing("cuGetProcAddress_v2"));
  for (const bool is_an_error : {false, true}) {
    for (const char* name : {"cuInit", "cuLibraryLoadData", "cuLaunchKernel"}) {
      EXPECT_EQ(LoadError({.missing = name, .missing_is_an_error = is_an_error}), missing(name));
    }
  }
}

TEST(CudaDriver, SomeFunctionsMayBeMissing) {
  for (const bool is_an_error : {false, true}) {
    stub = {.missing = "cuLaunchKernelEx", .missing_is_an_error = is_an_error};
    const CudaDriver driver = LoadCudaDriver(FindStub);
    EXPECT_EQ(driver.cuLaunchKernelEx.pointer, nullptr);
    EXPECT_NE(driver.cuLaunchKernel.pointer, nullptr);
  }
}

TEST(CudaDriver, NoDevice) {
  EXPECT_EQ(LoadError({.init = CUDA_ERROR_NO_DEVICE}),
            "cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
}

TEST(CudaDriver, FailedCallIsNamedWithTheDriversWords) {
  stub = {};
  const CudaDriver driver = LoadCudaDriver(FindStub);
  EXPECT_EQ(ErrorOf<OpError>([&] { driver.Call(driver.cuMemFree, CUDA_SUCCESS); }), "no error");
  EXPECT_EQ(ErrorOf<OpError>([&] { driver.Call(driver.cuMemFree, CUDA_ERROR_ILLEGAL_ADDRESS); }),
            "cuMemFree: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was "
            "encountered");
  EXPECT_EQ(ErrorOf<OpError>([&] { driver.Call(driver.cuMemFree, 12345); }),
            "cuMemFree: error 12345")
      << "of a driver newer than its words";
}

TEST(CudaDriver, FailureAfterAForkSaysSo) {
  stub = {};
  const CudaDriver driver = LoadCudaDriver(FindStub);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text =
        ErrorOf<OpError>([&] { driver.Call(driver.cuMemFree, CUDA_ERROR_ILLEGAL_ADDRESS); }) +
        "\n" + ErrorOf<OpError>([&] { driver.CheckProcess(); });
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  char text[1000];
  const ssize_t bytes = read(ends[0], text, sizeof(text));
  ASSERT_GT(bytes, 0);
  EXPECT_EQ(std::string(text, static_cast<size_t>(bytes)),
            "cuMemFree: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was "
            "encountered; this process was forked from one that had initialized CUDA, which then "
            "works in that one only: start processes by spawn, or use CUDA after the fork only\n"
            "this process was forked from one that had initialized CUDA, which then works in that "
            "one only: start processes by spawn, or use CUDA after the fork only");
  EXPECT_EQ(ErrorOf<OpError>([&] { driver.CheckProcess(); }), "no error");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace larq_engine
