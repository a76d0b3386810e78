// The row of table.cc that every CPU runs.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_FLOAT_PORTABLE_H_
#define LARQ_ENGINE_KERNELS_FLOATS_FLOAT_PORTABLE_H_

#include "larq_engine/kernels/floats/float_product.h"

namespace larq_engine {

void FloatPixels16Portable(const FloatArgs& args);
void FloatChannelsPortable(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_FLOAT_PORTABLE_H_
