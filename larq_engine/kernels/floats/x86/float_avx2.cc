// Computes blocks of 16 filters, two vectors.
#include "larq_engine/kernels/floats/x86/float_avx2.h"

#include "larq_engine/kernels/floats/x86/float_x86.h"

#if !defined(__AVX2__) || !defined(__FMA__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"] and ISA_COPTS[\"fma\"]"
#endif

namespace larq_engine {

static_assert(2 * Vec8::kLanes == kFloatLanes);

void FloatPixels16Avx2(const FloatArgs& args) {
  size_t column = 0;
  for (; column + Vec8::kLanes < args.n; column += kFloatLanes) {
    MultiplyColumns<Vec8, 2>(args, column);
  }
  if (column < args.n) MultiplyFewColumns(args, column);
}

void FloatChannelsAvx2(const FloatArgs& args) {
  size_t column = MultiplyAnyLines<Vec8>(args);
  for (; column + Vec8::kLanes < args.n; column += kFloatLanes) {
    MultiplyChannels<Vec8, 2>(args, column);
  }
  if (column < args.n) MultiplyChannels<Vec8, 1>(args, column);
}

}  // namespace larq_engine
