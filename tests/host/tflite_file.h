// Reads subgraph 0 of a .tflite file.
#ifndef LARQ_ENGINE_TESTS_HOST_TFLITE_FILE_H_
#define LARQ_ENGINE_TESTS_HOST_TFLITE_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/model_file/model_file.h"
#include "tests/host/graph.h"

namespace larq_engine::testing {

// Throws std::exception if the file ends too early or has a number that refers to nothing. Files
// that are illegal in other ways are read.
Graph ReadTfliteFile(std::span<const uint8_t> bytes);

// Returns the bytes of a file. Throws FileError if it can't be read.
std::vector<uint8_t> ReadFileBytes(const std::string& path);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_TFLITE_FILE_H_
