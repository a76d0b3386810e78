// Elements of tensors: their types, made-up values, and how far values differ.
#ifndef BENCHMARKS_MODEL_TENSOR_DATA_H_
#define BENCHMARKS_MODEL_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "third_party/litert/litert_abi.h"

namespace larq_engine {

// "type 5" for one that is not known.
std::string ElementName(LiteRtElementType type);

// Bytes, 0 for a type that is not known or has no fixed size.
size_t ElementSize(LiteRtElementType type);

// Floats of -1 to 1, any 8- and 16-bit integers; wider integers are 0 or 1, because they are often
// indices. The same bytes on every machine for the same seed.
void FillRandom(LiteRtElementType type, uint64_t seed, std::span<uint8_t> data);

struct Difference {
  size_t values = 0;   // that differ by more than the tolerance
  size_t first = 0;    // the first of them
  double largest = 0;  // of all values; infinite where only one of two is no number
};

// Equal bits never differ, whatever the tolerance. Both have the same size, whole elements.
Difference Compare(LiteRtElementType type, std::span<const uint8_t> got,
                   std::span<const uint8_t> expected, double tolerance);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_TENSOR_DATA_H_
