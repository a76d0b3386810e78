// Rows for every 64-bit ARM.
#ifndef LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_NEON_H_
#define LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_NEON_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_4x16x64Neon(const BgemmArgs& args);
void BgemmI32_4x16x128Neon(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_NEON_H_
