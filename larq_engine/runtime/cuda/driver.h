// The CUDA driver of this machine, opened at run time: neither library needs it to load.
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

// One of the driver's functions. Called by itself it hands out the result, for what may fail;
// CudaDriver::Call looks at it.
template <typename... Args>
struct CudaFunction<CUresult(Args...)> {
  const char* name;
  CUresult (*pointer)(Args...);

  [[nodiscard]] CUresult operator()(Args... args) const { return pointer(args...); }
};

// "CUDA 12.4" of 12040, as the driver has it.
std::string CudaVersionText(int version);

struct CudaDriver {
#define LARQ_ENGINE_CUDA_MEMBER(function, parameters) \
  CudaFunction<CUresult parameters> function = {#function, nullptr};
  LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_MEMBER)
  LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_MEMBER)  // null where there is none
#undef LARQ_ENGINE_CUDA_MEMBER

  int version = 0;    // 12040 is CUDA 12.4: the newest that the driver knows
  pid_t process = 0;  // that called cuInit

  // Throws OpError if the call fails: driver.Call(driver.cuMemAlloc, &memory, bytes).
  template <typename... Args>
  void Call(const CudaFunction<CUresult(Args...)>& function,
            std::type_identity_t<Args>... args) const {
    const CUresult result = function(args...);
    if (result != CUDA_SUCCESS) Fail(function.name, result);
  }

  // The same of a call that allocates, which throws std::bad_alloc if memory is short.
  template <typename... Args>
  void Allocate(const CudaFunction<CUresult(Args...)>& function,
                std::type_identity_t<Args>... args) const {
    const CUresult result = function(args...);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (result != CUDA_SUCCESS) Fail(function.name, result);
  }

  // Throws OpError that names the call, the error and what the driver says of it, and tells of a
  // fork, after which nothing works.
  [[noreturn]] void Fail(const char* call, CUresult result) const;

  // Throws OpError in a process that was forked from the one that loaded it.
  void CheckProcess() const;
};

// The address of what a library exports, null if it does not.
using SymbolFinder = std::function<void*(const char* name)>;

// Finds the functions and calls cuInit. Throws OpError that says what is missing.
CudaDriver LoadCudaDriver(const SymbolFinder& find);

// The driver of this machine, loaded at the first call that does not throw OpError.
const CudaDriver& OpenCudaDriver();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_DRIVER_H_
