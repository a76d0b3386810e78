// Checks whether a .tflite file is legal, so that no host crashes on it.
#ifndef LARQ_ENGINE_MODEL_FILE_MODEL_CHECK_H_
#define LARQ_ENGINE_MODEL_FILE_MODEL_CHECK_H_

#include <cstdint>
#include <span>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// Returns what the file contains, whose spans point into it. Throws FileError that says what is
// wrong with the file, without its name.
ModelFile CheckModel(std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_MODEL_CHECK_H_
