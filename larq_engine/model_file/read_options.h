// Reads the options of the schema's own operators.
#ifndef LARQ_ENGINE_MODEL_FILE_READ_OPTIONS_H_
#define LARQ_ENGINE_MODEL_FILE_READ_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "larq_engine/model_file/file_options.h"
#include "larq_engine/model_file/flatbuffer.h"

namespace larq_engine {

// `kind` is the operator's number; `type` that of `table` in the union of options. Returns nothing
// if there is no table, if it is of another operator's type, or if nothing uses options of this
// operator.
std::optional<FileOptions> ReadFileOptions(Flatbuffer& file, uint64_t table, int kind,
                                           uint8_t type);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_READ_OPTIONS_H_
