// Values of the host's C interface in the numbers of .tflite files.
#ifndef LARQ_ENGINE_RUNTIME_HOST_HOST_VALUES_H_
#define LARQ_ENGINE_RUNTIME_HOST_HOST_VALUES_H_

#include <optional>

#include "larq_engine/model_file/element_type.h"
#include "larq_engine/model_file/file_options.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Returns kNone for a type that is unknown to us.
ElementType ReadElementType(TfLiteType type);

// Reads what TfLiteNode::builtin_data of an operator that we know points to. Returns nothing if
// that is null.
std::optional<FileOptions> ReadBuiltinData(int code, const void* builtin_data);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_HOST_VALUES_H_
