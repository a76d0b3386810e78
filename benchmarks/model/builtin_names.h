// Names of operators in the schema of .tflite files.
#ifndef BENCHMARKS_MODEL_BUILTIN_NAMES_H_
#define BENCHMARKS_MODEL_BUILTIN_NAMES_H_

#include <string>

namespace larq_engine {

// Returns the name for the schema's number, such as "CONV_2D". Returns the number itself if it is
// newer than this program.
std::string BuiltinName(int kind);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_BUILTIN_NAMES_H_
