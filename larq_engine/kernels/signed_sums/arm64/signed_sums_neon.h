// The row for 64-bit ARM with Advanced SIMD.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_ARM64_SIGNED_SUMS_NEON_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_ARM64_SIGNED_SUMS_NEON_H_

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {

extern const SignedSums kSignedSumsNeon;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_ARM64_SIGNED_SUMS_NEON_H_
