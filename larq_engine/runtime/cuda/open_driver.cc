#include <dlfcn.h>

#include <string>

#include "larq_engine/runtime/cuda/driver.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

}  // namespace

const CudaDriver& OpenCudaDriver() {
  // The driver is never closed: it has threads of its own, and others in the process may use it.
  static const CudaDriver driver = [] {
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw OpError(std::string("expected NVIDIA's driver for ") + CudaVersionText(kCudaInterface) +
                    " or newer, got: " + dlerror() +
                    "; install the driver, or start the container with access to the GPU");
    }
    return LoadCudaDriver([library](const char* name) { return dlsym(library, name); });
  }();
  return driver;
}

}  // namespace larq_engine
