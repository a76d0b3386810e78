// Follows every offset of a TensorFlow Lite flatbuffer.
//
// A host that follows the offsets of a truncated or corrupted file unchecked crashes the process.
// tflite_runtime 2.14 does so; LiteRT and TensorFlow check, and report only "not a valid
// Flatbuffer".
#ifndef LARQ_ENGINE_MODEL_FILE_STRUCTURE_H_
#define LARQ_ENGINE_MODEL_FILE_STRUCTURE_H_

#include "larq_engine/model_file/flatbuffer.h"

namespace larq_engine {

// Throws FileError if an offset leads to something else than it should, or if a string has no end.
void CheckStructure(Flatbuffer& file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_STRUCTURE_H_
