// The row for x86 with AVX2.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_SIGNED_SUMS_AVX2_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_SIGNED_SUMS_AVX2_H_

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {

extern const SignedSums kSignedSumsAvx2;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_SIGNED_SUMS_AVX2_H_
