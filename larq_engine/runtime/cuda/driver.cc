#include "larq_engine/runtime/cuda/driver.h"

#include <unistd.h>

#include <string>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

constexpr const char* kForked =
    "this process was forked from one that had initialized CUDA, which then works in that one "
    "only: start processes by spawn, or use CUDA after the fork only";

[[noreturn]] void FailTooOld(const std::string& got) {
  throw OpError("expected NVIDIA's driver for " + CudaVersionText(kCudaInterface) +
                " or newer, got one " + got + ": update the driver");
}

// Finds the function, and tells whether the driver has it.
template <typename... Args>
bool FindIfThere(CuGetProcAddress* find, CudaFunction<CUresult(Args...)>& function) {
  void* pointer = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  // Drivers differ in whether they report a function that they lack as a failure of the call.
  if (find(function.name, &pointer, kCudaInterface, 0, &status) != CUDA_SUCCESS) return false;
  function.pointer = reinterpret_cast<CUresult (*)(Args...)>(pointer);
  return pointer != nullptr;
}

template <typename... Args>
void Find(CuGetProcAddress* find, int version, CudaFunction<CUresult(Args...)>& function) {
  if (!FindIfThere(find, function)) {
    FailTooOld("for " + CudaVersionText(version) + " without " + function.name);
  }
}

}  // namespace

std::string CudaVersionText(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void CudaDriver::Fail(const char* call, CUresult result) const {
  std::string text = std::string(call) + ": ";
  const char* name = nullptr;
  const char* explanation = nullptr;
  if (cuGetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr) {
    text += std::string(name) + " (" + std::to_string(result) + ")";
  } else {
    text += "error " + std::to_string(result);
  }
  if (cuGetErrorString(result, &explanation) == CUDA_SUCCESS && explanation != nullptr) {
    text += std::string(": ") + explanation;
  }
  if (getpid() != process) text += std::string("; ") + kForked;
  throw OpError(text);
}

void CudaDriver::CheckProcess() const {
  if (getpid() != process) throw OpError(kForked);
}

CudaDriver LoadCudaDriver(const SymbolFinder& find) {
  CudaDriver driver;
  // Drivers before CUDA 12.0 have this function, but not cuGetProcAddress_v2.
  driver.cuDriverGetVersion.pointer =
      reinterpret_cast<CUresult (*)(int*)>(find(driver.cuDriverGetVersion.name));
  if (driver.cuDriverGetVersion.pointer == nullptr ||
      driver.cuDriverGetVersion(&driver.version) != CUDA_SUCCESS) {
    FailTooOld("that does not tell its version");
  }
  if (driver.version < kCudaInterface) FailTooOld("for " + CudaVersionText(driver.version));
  auto* get = reinterpret_cast<CuGetProcAddress*>(find("cuGetProcAddress_v2"));
  if (get == nullptr) {
    FailTooOld("for " + CudaVersionText(driver.version) + " without cuGetProcAddress_v2");
  }
#define LARQ_ENGINE_CUDA_FIND(function, parameters) Find(get, driver.version, driver.function);
  LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_FIND)
#undef LARQ_ENGINE_CUDA_FIND
#define LARQ_ENGINE_CUDA_FIND(function, parameters) (void)FindIfThere(get, driver.function);
  LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_FIND)
#undef LARQ_ENGINE_CUDA_FIND
  driver.process = getpid();
  driver.Call(driver.cuInit, 0);
  return driver;
}

}  // namespace larq_engine
