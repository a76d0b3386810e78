// Looks for what LiteRT crashes on in a .tflite file.
//
// LiteRT verifies the structure of a file itself: every offset of every table. It does not look at
// what the numbers mean, and follows them: this does, and checks the offsets on its way there.
#ifndef BENCHMARKS_MODEL_MODEL_CHECK_H_
#define BENCHMARKS_MODEL_MODEL_CHECK_H_

#include <cstdint>
#include <span>

namespace larq_engine {

// Throws RunError that says what is wrong with the file, without its name.
void CheckModel(std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_MODEL_CHECK_H_
