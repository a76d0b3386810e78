// Elements of tensors: their types, made-up values, and how far values differ.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_TENSOR_DATA_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "larq_engine/runtime/litert_abi.h"

namespace larq_engine {

// Returns the type's name; for an unknown type, a text such as "type 5".
std::string ElementName(LiteRtElementType type);

// Returns the bytes of an element, 0 for a type that is unknown or has no fixed size.
size_t ElementSize(LiteRtElementType type);

// Fills `data` with floats from -1 to 1, or with any 8- or 16-bit integers. Wider integers are 0 or
// 1, because they are often indices. A seed gives the same bytes on every machine.
void FillRandom(LiteRtElementType type, uint64_t seed, std::span<uint8_t> data);

struct Difference {
  size_t values = 0;   // number of values that differ by more than the tolerance
  size_t first = 0;    // index of the first of them
  double largest = 0;  // largest difference of all values; infinite if only one of two is NaN
};

// Compares values of two tensors of the same size in bytes, which must be whole elements. Equal
// bits never differ, whatever the tolerance is.
Difference Compare(LiteRtElementType type, std::span<const uint8_t> got,
                   std::span<const uint8_t> expected, double tolerance);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_TENSOR_DATA_H_
