// What a user may set, as the strings that the external-delegate interface carries.
#ifndef LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
#define LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace larq_engine {

// The value of `kernel` that stands for ReferenceBconv2d instead of a row.
inline constexpr std::string_view kReferenceKernel = "reference";

inline constexpr int kMaxThreads = 256;

struct EngineOptions {
  int num_threads = 0;  // 0: the host's own number
  std::string kernel;   // kAutoKernel, kReferenceKernel or the name of a row that this CPU runs
  bool fuse = true;     // with the host's operators between ours; the results are the same
};

// Throws std::invalid_argument that names the valid options or values. Environment variables stand
// in where an option is not given.
EngineOptions ParseEngineOptions(const char* const* keys, const char* const* values, size_t count);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
