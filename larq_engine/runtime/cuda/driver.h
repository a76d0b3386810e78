// The CUDA driver of this machine. It is opened at run time, so that neither library needs it to
// load.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_DRIVER_H_
#define LARQ_ENGINE_RUNTIME_CUDA_DRIVER_H_

#include <sys/types.h>

#include <functional>
#include <new>
#include <string>
#include <type_traits>

#include "larq_engine/runtime/cuda/cuda_abi.h"

namespace larq_engine {

template <typename Signature>
struct CudaFunction;

// A function of the driver. A direct call returns the result, for calls that may fail;
// CudaDriver::Call checks it.
template <typename... Args>
struct CudaFunction<CUresult(Args...)> {
  const char* name;
  CUresult (*pointer)(Args...);

  [[nodiscard]] CUresult operator()(Args... args) const { return pointer(args...); }
};

// Returns "CUDA 12.4" for 12040, which is how the driver encodes versions.
std::string CudaVersionText(int version);

struct CudaDriver {
#define LARQ_ENGINE_CUDA_MEMBER(function, parameters) \
  CudaFunction<CUresult parameters> function = {#function, nullptr};
  LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_MEMBER)
  LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_MEMBER)  // null if the driver lacks it
#undef LARQ_ENGINE_CUDA_MEMBER

  int version = 0;    // the newest CUDA that the driver supports; 12040 is CUDA 12.4
  pid_t process = 0;  // the process that called cuInit

  // Calls the function. Throws OpError if it fails. For example: driver.Call(driver.cuMemAlloc,
  // &memory, bytes).
  template <typename... Args>
  void Call(const CudaFunction<CUresult(Args...)>& function,
            std::type_identity_t<Args>... args) const {
    const CUresult result = function(args...);
    if (result != CUDA_SUCCESS) Fail(function.name, result);
  }

  // Calls a function that allocates, like Call, but throws std::bad_alloc if memory is short.
  template <typename... Args>
  void Allocate(const CudaFunction<CUresult(Args...)>& function,
                std::type_identity_t<Args>... args) const {
    const CUresult result = function(args...);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (result != CUDA_SUCCESS) Fail(function.name, result);
  }

  // Throws OpError that names the call, the error and the driver's explanation. It also mentions a
  // fork if there was one, because no call works after a fork.
  [[noreturn]] void Fail(const char* call, CUresult result) const;

  // Throws OpError if this process was forked from the one that loaded the driver.
  void CheckProcess() const;
};

// Returns the address of a symbol that a library exports, or null if there is none.
using SymbolFinder = std::function<void*(const char* name)>;

// Finds the functions and calls cuInit. Throws OpError that says what is missing.
CudaDriver LoadCudaDriver(const SymbolFinder& find);

// Returns the driver of this machine. The first call that does not throw OpError loads it.
const CudaDriver& OpenCudaDriver();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_DRIVER_H_
