#include "larq_engine/runtime/cuda/cuda_image.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/version.h"

namespace larq_engine {
namespace {

constexpr const char* kFileName = "liblarq_engine_cuda.so";

// Returns the path of the running program. The system is asked, because a program that was found
// along PATH has a name without a folder.
std::string ProgramPath() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

}  // namespace

std::string CudaImagePath() {
  Dl_info info;
  std::string own;
  if (dladdr(reinterpret_cast<const void*>(&CudaImagePath), &info) != 0 &&
      info.dli_fname != nullptr) {
    own = info.dli_fname;
  }
  if (own.find('/') == std::string::npos) own = ProgramPath();
  // The folder of the file itself counts, not that of a link to it, because LiteRT looks for
  // accelerators by other names. std::filesystem is not used: it calls functions that glibc 2.28,
  // the oldest that a wheel supports, does not have.
  if (char* real = realpath(own.c_str(), nullptr)) {
    own = real;
    free(real);
  }
  const size_t slash = own.rfind('/');
  // Without a slash, the dynamic loader would look in other folders.
  return (slash == std::string::npos ? "./" : own.substr(0, slash + 1)) + kFileName;
}

const LarqEngineCudaImage& OpenCudaImage(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    throw OpError("expected the kernels for GPUs at '" + path +
                  "', found no such file: install a larq_engine that comes with it, or build it "
                  "where there is CUDA's compiler nvcc");
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw OpError(std::string("cannot open the kernels for GPUs: ") + dlerror());
  }
  const auto image_of =
      reinterpret_cast<decltype(&larq_engine_cuda_image)>(dlsym(library, "larq_engine_cuda_image"));
  const auto version_of = reinterpret_cast<decltype(&larq_engine_cuda_version)>(
      dlsym(library, "larq_engine_cuda_version"));
  if (image_of == nullptr || version_of == nullptr) {
    throw OpError("'" + path + "': expected the kernels for GPUs, got another library");
  }
  const LarqEngineCudaImage* image = image_of(LARQ_ENGINE_VERSION);
  if (image == nullptr) {
    throw OpError("'" + path +
                  "': expected the kernels of larq_engine " LARQ_ENGINE_VERSION ", got those of " +
                  version_of() + ": install both libraries of one version");
  }
  return *image;
}

}  // namespace larq_engine
