#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_PORTABLE_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_PORTABLE_H_

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {

extern const SignedSums kSignedSumsPortable;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_SIGNED_SUMS_PORTABLE_H_
