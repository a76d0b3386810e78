// Rows for 64-bit ARM with UDOT (Armv8.2).
#ifndef LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_DOTPROD_H_
#define LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_DOTPROD_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_4x16x64Dotprod(const BgemmArgs& args);
void BgemmI32_4x16x128Dotprod(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_DOTPROD_H_
