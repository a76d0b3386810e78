// The functions of libcuda.so.1 that are looked up by their symbols.
#include "larq_engine/runtime/cuda/cuda_abi.h"
#include "tests/cuda/fake_driver/fake_driver.h"

using larq_engine::CUresult;
using larq_engine::testing::FindFakeCudaSymbol;

extern "C" {

FAKE_CUDA_EXPORT CUresult cuDriverGetVersion(int* version) {
  return reinterpret_cast<CUresult (*)(int*)>(FindFakeCudaSymbol("cuDriverGetVersion"))(version);
}

FAKE_CUDA_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** function, int version,
                                              uint64_t flags,
                                              larq_engine::CUdriverProcAddressQueryResult* status) {
  return reinterpret_cast<larq_engine::CuGetProcAddress*>(
      FindFakeCudaSymbol("cuGetProcAddress_v2"))(name, function, version, flags, status);
}

}  // extern "C"
