// The row of floats for x86 with AVX-512.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_AVX512BW_H_
#define LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_AVX512BW_H_

#include "larq_engine/kernels/floats/float_product.h"

namespace larq_engine {

void FloatPixels64Avx512bw(const FloatArgs& args);
void FloatChannelsAvx512bw(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_AVX512BW_H_
