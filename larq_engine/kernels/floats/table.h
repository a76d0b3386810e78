// The rows of products of floats. A new one takes its .cc and its row here. Dispatch and tests
// follow.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_TABLE_H_
#define LARQ_ENGINE_KERNELS_FLOATS_TABLE_H_

#include <span>

#include "larq_engine/kernels/floats/float_product.h"
#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {

struct FloatRow {
  const char* name;  // floats_<pixels at once>x<nr>_<isa>
  Isa isa;
  int nr;
  double macs_per_cycle;  // rate of one core of a current CPU
  FloatFn of_pixels;
  FloatFn of_channels;
};

// Returns the rows that this build holds, from the lowest ISA to the highest.
std::span<const FloatRow> FloatRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_TABLE_H_
