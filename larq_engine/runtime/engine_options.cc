#include "larq_engine/runtime/engine_options.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "larq_engine/kernels/select.h"

namespace larq_engine {
namespace {

constexpr const char* kKernelVariable = "LARQ_ENGINE_KERNEL";

int ParseThreads(std::string_view value) {
  int threads = 0;
  const char* end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, threads);
  if (failure != std::errc() || stop != end || threads < 1 || threads > kMaxThreads) {
    throw std::invalid_argument("option num_threads: expected 1 to " + std::to_string(kMaxThreads) +
                                ", got '" + std::string(value) + "'");
  }
  return threads;
}

// `source` is where the name comes from, for the message.
std::string ParseKernel(std::string_view value, const std::string& source) {
  if (value == kAutoKernel || value == kReferenceKernel) return std::string(value);
  // Any shape that all rows can do: only the name and the CPU are judged here.
  const BgemmChoice choice =
      SelectBgemm(BgemmRows(), DetectCpuFeatures(), {.n = 1, .k_bits = 1}, value);
  if (choice.row == nullptr) throw std::invalid_argument(source + ": " + choice.error);
  return std::string(value);
}

bool ParseFuse(std::string_view value) {
  const std::optional<bool> fuse = ParseSwitch(value);
  if (!fuse) {
    throw std::invalid_argument(std::string("option fuse: expected ") + kSwitchValues + ", got '" +
                                std::string(value) + "'");
  }
  return *fuse;
}

}  // namespace

std::optional<bool> ParseSwitch(std::string_view value) {
  std::string lower(value);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "on" || lower == "true" || lower == "1") return true;
  if (lower == "off" || lower == "false" || lower == "0") return false;
  return std::nullopt;
}

EngineOptions ParseEngineOptions(const char* const* keys, const char* const* values, size_t count) {
  EngineOptions options;
  options.kernel = kAutoKernel;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i] == nullptr ? "" : keys[i];
    const std::string_view value = values[i] == nullptr ? "" : values[i];
    if (key == "num_threads") {
      options.num_threads = ParseThreads(value);
    } else if (key == "kernel") {
      options.kernel = ParseKernel(value, "option kernel");
    } else if (key == "fuse") {
      options.fuse = ParseFuse(value);
    } else {
      throw std::invalid_argument("unknown option '" + std::string(key) +
                                  "'; expected one of num_threads, kernel, fuse");
    }
  }
  const char* variable = std::getenv(kKernelVariable);
  if (options.kernel == kAutoKernel && variable != nullptr && *variable != 0) {
    options.kernel = ParseKernel(variable, std::string("environment variable ") + kKernelVariable);
  }
  return options;
}

}  // namespace larq_engine
