// Looks for what LiteRT 2.2 or 2.3 crashes on in a .tflite file.
//
// LiteRT verifies the structure of a file itself: that every offset of every table leads into the
// file. Of what the numbers mean it checks less, 2.2 least: ranks, indices of buffers, kinds and
// tensors were followed wherever they led. This checks them, and the offsets on its way there.
#ifndef BENCHMARKS_MODEL_MODEL_CHECK_H_
#define BENCHMARKS_MODEL_MODEL_CHECK_H_

#include <cstdint>
#include <span>

namespace larq_engine {

// Throws ModelError that says what is wrong with the file, without its name.
void CheckModel(std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_MODEL_CHECK_H_
