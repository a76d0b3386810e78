#include "larq_engine/benchmark_model/litert_library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

constexpr char kFileName[] = "libLiteRt.so";

// Returns the folder of this program with a slash at its end, empty if the system does not tell.
std::string ProgramFolder() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || length == sizeof(path)) return "";
  const std::string program(path, static_cast<size_t>(length));
  return program.substr(0, program.rfind('/') + 1);
}

void* OpenFile(const std::string& path) {
  // Only files are opened, because the dynamic loader would wait for ever for a pipe that nobody
  // writes to.
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw RunError("cannot open LiteRT's library: '" + path + "': expected a file, got none");
  }
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  throw RunError("cannot open LiteRT's library: " + std::string(dlerror()));
}

void* Open(const std::string& path) {
  const bool is_static = dlopen(nullptr, RTLD_LAZY) == nullptr;  // a dynamic program opens itself
  if (is_static) {
    throw NoLiteRtError(
        "expected a program that can open LiteRT's library, got a static one; take the dynamic "
        "larq_benchmark_model");
  }
  // Without a slash, the dynamic loader would look in other folders.
  if (!path.empty()) return OpenFile(path.find('/') == std::string::npos ? "./" + path : path);
  const std::string beside = ProgramFolder() + kFileName;
  if (access(beside.c_str(), F_OK) == 0) return OpenFile(beside);
  if (void* handle = dlopen(kFileName, RTLD_NOW | RTLD_LOCAL)) return handle;
  throw NoLiteRtError("expected LiteRT's library at " + beside +
                      " or where the dynamic loader looks (" + dlerror() +
                      "); name it with --litert=PATH");
}

}  // namespace

LiteRtLibrary OpenLiteRt(const std::string& path) {
  void* handle = Open(path);
  LiteRtLibrary library = {};
  const auto find = [&](const char* name, auto& pointer) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) {
      throw RunError("'" + (path.empty() ? kFileName : path) +
                     "': expected LiteRT 2.2 or newer, got a library without " + name);
    }
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(symbol);
  };
  const LiteRtAcceleratorDef* const* xnnpack = nullptr;
  find("LiteRtStaticLinkedAcceleratorCpuDef", xnnpack);
  library.xnnpack = *xnnpack;
  if (library.xnnpack == nullptr || library.xnnpack->abi_header.major_version != 1 ||
      library.xnnpack->abi_header.struct_size < sizeof(LiteRtAcceleratorDef)) {
    throw RunError("'" + (path.empty() ? kFileName : path) +
                   "': expected LiteRT 2.2 or newer with XNNPACK, got a library that has another "
                   "LiteRtAcceleratorDef");
  }
#define LARQ_ENGINE_LITERT_FIND(name, arguments) find("LiteRt" #name, library.name);
  LARQ_ENGINE_LITERT_FUNCTIONS(LARQ_ENGINE_LITERT_FIND)
#undef LARQ_ENGINE_LITERT_FIND
  bool has_profiler = true;
#define LARQ_ENGINE_LITERT_LOOK(name, arguments) \
  has_profiler = has_profiler && dlsym(handle, "LiteRt" #name) != nullptr;
  LARQ_ENGINE_LITERT_PROFILER_FUNCTIONS(LARQ_ENGINE_LITERT_LOOK)
#undef LARQ_ENGINE_LITERT_LOOK
#define LARQ_ENGINE_LITERT_FIND(name, arguments) find("LiteRt" #name, library.name);
  if (has_profiler) {
    LARQ_ENGINE_LITERT_PROFILER_FUNCTIONS(LARQ_ENGINE_LITERT_FIND)
  }
#undef LARQ_ENGINE_LITERT_FIND
  find("LiteRtDestroyTensorBuffer", library.DestroyTensorBuffer);
  find("LiteRtDestroyCompiledModel", library.DestroyCompiledModel);
  find("LiteRtDestroyOptions", library.DestroyOptions);
  find("LiteRtDestroyModel", library.DestroyModel);
  find("LiteRtDestroyEnvironment", library.DestroyEnvironment);
  Dl_info info;
  library.path = dladdr(reinterpret_cast<const void*>(library.CreateEnvironment), &info) != 0
                     ? info.dli_fname
                     : path;
  return library;
}

}  // namespace larq_engine
