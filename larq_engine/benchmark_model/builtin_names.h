// Names of operators in the schema of .tflite files.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_BUILTIN_NAMES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_BUILTIN_NAMES_H_

#include <string>

namespace larq_engine {

// Returns the name for the schema's number, such as "CONV_2D". Returns the number itself if it is
// newer than this program.
std::string BuiltinName(int kind);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_BUILTIN_NAMES_H_
