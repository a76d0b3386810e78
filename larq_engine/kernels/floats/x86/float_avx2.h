// The row of floats for x86 with AVX2 and FMA.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_AVX2_H_
#define LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_AVX2_H_

#include "larq_engine/kernels/floats/float_product.h"

namespace larq_engine {

void FloatPixels16Avx2(const FloatArgs& args);
void FloatChannelsAvx2(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_AVX2_H_
