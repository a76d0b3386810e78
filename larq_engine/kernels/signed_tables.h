// The tables of signed_sums.h, which rows of all ISAs read.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_TABLES_H_
#define LARQ_ENGINE_KERNELS_SIGNED_TABLES_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/signed_sums.h"

namespace larq_engine {

// Of inputs [32 * words]; returns the base of the sums.
int32_t MakeInt8Tables(const int8_t* inputs, size_t words, Int8Tables* tables);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_TABLES_H_
