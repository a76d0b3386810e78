// Reads and writes whole files. Errors name the file and the system's reason (RunError).
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_FILES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_FILES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace larq_engine {

std::vector<uint8_t> ReadFile(const std::string& path);

// Throws if WriteFile could not write to the path. Leaves nothing behind.
void CheckWritable(const std::string& path);

// Writes a file beside the path and renames it, so that a reader sees the old file or the whole new
// one.
void WriteFile(const std::string& path, std::span<const uint8_t> content);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_FILES_H_
