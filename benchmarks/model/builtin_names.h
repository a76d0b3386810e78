// What the schema of .tflite files calls its operators.
#ifndef BENCHMARKS_MODEL_BUILTIN_NAMES_H_
#define BENCHMARKS_MODEL_BUILTIN_NAMES_H_

#include <string>

namespace larq_engine {

// By the schema's number, such as "CONV_2D"; the number of one that is newer than this program.
std::string BuiltinName(int kind);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_BUILTIN_NAMES_H_
