// Checks whether a .tflite file is legal, so that no host crashes on it.
#ifndef LARQ_ENGINE_MODEL_FILE_MODEL_CHECK_H_
#define LARQ_ENGINE_MODEL_FILE_MODEL_CHECK_H_

#include <cstdint>
#include <span>

namespace larq_engine {

// Throws FileError that says what is wrong with the file, without its name.
void CheckModel(std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_MODEL_CHECK_H_
