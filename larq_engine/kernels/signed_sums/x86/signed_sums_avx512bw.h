// The row for x86 with AVX-512BW.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_SIGNED_SUMS_AVX512BW_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_SIGNED_SUMS_AVX512BW_H_

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {

extern const SignedSums kSignedSumsAvx512bw;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_SIGNED_SUMS_AVX512BW_H_
