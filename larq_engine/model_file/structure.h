// Follows every offset of a TensorFlow Lite flatbuffer.
//
// A host that follows the offsets of a truncated or corrupted file unchecked takes the process down
// (tflite_runtime 2.14 does; LiteRT and TensorFlow check, and say no more than "not a valid
// Flatbuffer").
#ifndef LARQ_ENGINE_MODEL_FILE_STRUCTURE_H_
#define LARQ_ENGINE_MODEL_FILE_STRUCTURE_H_

#include "larq_engine/model_file/flatbuffer.h"

namespace larq_engine {

// Throws FileError where something is not where an offset says, or a string has no end.
void CheckStructure(Flatbuffer& file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_STRUCTURE_H_
