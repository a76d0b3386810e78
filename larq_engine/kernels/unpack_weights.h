// LceUnpackWeights: bits and scales to the weights of a float or int8 layer.
#ifndef LARQ_ENGINE_KERNELS_UNPACK_WEIGHTS_H_
#define LARQ_ENGINE_KERNELS_UNPACK_WEIGHTS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// Weights [elements / (scales * inner)][scales][inner], of which each has the scale of its middle
// index. Bits follow one another without gaps, weight i in word i / 32.
struct PackedWeights {
  const uint32_t* bits;
  const float* scale;
  size_t elements;
  size_t scales;
  size_t inner;
};

// -scale where the bit is 1, +scale where it is 0, to the bit: also for denormals and NaN.
void UnpackWeights(const PackedWeights& weights, float* out);

// Of scales that are whole numbers from -127 to 127.
void UnpackWeights(const PackedWeights& weights, int8_t* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_UNPACK_WEIGHTS_H_
