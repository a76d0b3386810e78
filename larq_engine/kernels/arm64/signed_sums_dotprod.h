// The row for 64-bit ARM with the dot product SDOT.
#ifndef LARQ_ENGINE_KERNELS_ARM64_SIGNED_SUMS_DOTPROD_H_
#define LARQ_ENGINE_KERNELS_ARM64_SIGNED_SUMS_DOTPROD_H_

#include "larq_engine/kernels/signed_sums.h"

namespace larq_engine {

extern const SignedSums kSignedSumsDotprod;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_ARM64_SIGNED_SUMS_DOTPROD_H_
