// Describes products of matrices of two values each, independent of how they are computed.
#ifndef LARQ_ENGINE_KERNELS_COMMON_BMATMUL_SPEC_H_
#define LARQ_ENGINE_KERNELS_COMMON_BMATMUL_SPEC_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// A value on the left is a s + b, one on the right c t + d, where bits stand for s and t (+1 or
// -1). So a sum of `depth` products is
//
//   ac * (sum of s t)  +  ad * (sum of s)  +  bc * (sum of t)  +  depth * bd
//
// The first sum is a dot product of bits; the others are of a row of one side. y is computed as
// (dot * of_dot + (sum of t * of_right + constant)) + sum of s * of_left, each operation rounded to
// float32. The last one is left out if of_left is 0.
struct BmatmulSpec {
  int64_t depth = 1;
  float of_dot = 1;
  float of_left = 0;
  float of_right = 0;
  float constant = 0;
};

// Returns the sum of the +-1 values of a row.
int32_t SumOfSigns(const uint32_t* row, int64_t depth);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_BMATMUL_SPEC_H_
