// Rows that any CPU of the architecture runs.
#ifndef LARQ_ENGINE_KERNELS_BINARY_BGEMM_PORTABLE_H_
#define LARQ_ENGINE_KERNELS_BINARY_BGEMM_PORTABLE_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_4x2x64Portable(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_BGEMM_PORTABLE_H_
