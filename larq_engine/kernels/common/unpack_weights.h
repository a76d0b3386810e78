// LceUnpackWeights: turns bits and scales into the weights of a float or int8 layer.
#ifndef LARQ_ENGINE_KERNELS_COMMON_UNPACK_WEIGHTS_H_
#define LARQ_ENGINE_KERNELS_COMMON_UNPACK_WEIGHTS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// Weights [elements / (scales * inner)][scales][inner]; each has the scale of its middle index.
// Bits follow one another without gaps: weight i is in word i / 32.
struct PackedWeights {
  const uint32_t* bits;
  const float* scale;
  size_t elements;
  size_t scales;
  size_t inner;
};

// Writes -scale for each bit 1 and +scale for each bit 0, exactly to the bit, also for denormals
// and NaN.
void UnpackWeights(const PackedWeights& weights, float* out);

// Does the same for int8; the scales must be whole numbers from -127 to 127.
void UnpackWeights(const PackedWeights& weights, int8_t* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_UNPACK_WEIGHTS_H_
