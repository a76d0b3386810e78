// Reads subgraph 0 of a .tflite file.
#ifndef LARQ_ENGINE_TESTS_HOST_TFLITE_FILE_H_
#define LARQ_ENGINE_TESTS_HOST_TFLITE_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/host/graph.h"

namespace larq_engine::testing {

// Throws FormatError when the bytes are not a TFLite file or contradict themselves.
Graph ReadTfliteFile(std::span<const uint8_t> bytes);

// The bytes of a file; throws FormatError when it can't be read.
std::vector<uint8_t> ReadFileBytes(const std::string& path);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_TFLITE_FILE_H_
