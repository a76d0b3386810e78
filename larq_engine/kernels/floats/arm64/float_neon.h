// The row of floats for every 64-bit ARM.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_ARM64_FLOAT_NEON_H_
#define LARQ_ENGINE_KERNELS_FLOATS_ARM64_FLOAT_NEON_H_

#include "larq_engine/kernels/floats/float_product.h"

namespace larq_engine {

void FloatPixels16Neon(const FloatArgs& args);
void FloatChannelsNeon(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_ARM64_FLOAT_NEON_H_
