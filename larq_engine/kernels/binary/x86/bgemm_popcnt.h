// Rows for x86 with the POPCNT instruction.
#ifndef LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_POPCNT_H_
#define LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_POPCNT_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_4x2x64Popcnt(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_POPCNT_H_
