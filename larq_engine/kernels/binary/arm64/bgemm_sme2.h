// The row for 64-bit ARM with SME2 and its binary outer product.
#ifndef LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_SME2_H_
#define LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_SME2_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_32x32x32Sme2(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_SME2_H_
