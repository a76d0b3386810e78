#include "larq_engine/kernels/floats/float_portable.h"

#include <cmath>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

const float* Run(const FloatArgs& args, size_t segment, size_t pixel) {
  return LhsRun(args.lhs_base, args.lhs[segment * kFloatPixels + pixel]);
}

}  // namespace

void FloatPixels16Portable(const FloatArgs& args) {
  const size_t depth = args.segments * args.segment_words;
  for (size_t i = 0; i < args.m; ++i) {
    for (size_t j = 0; j < args.n; ++j) {
      const float* rhs = args.rhs + j / kFloatLanes * kFloatLanes * depth + j % kFloatLanes;
      float sum = 0;
      for (size_t s = 0; s < args.segments; ++s) {
        const float* run = Run(args, s, i);
        for (size_t k = 0; k < args.segment_words; ++k, rhs += kFloatLanes) {
          sum = std::fma(run[k], *rhs, sum);
        }
      }
      args.out[i * args.out_stride + j] = Clamp(sum + args.bias[j], args.range);
    }
  }
}

void FloatChannelsPortable(const FloatArgs& args) {
  const size_t columns = RoundUp(args.n, kFloatLanes);
  for (size_t i = 0; i < args.m; ++i) {
    for (size_t j = 0; j < args.n; ++j) {
      const float* rhs = args.rhs + j;
      float sum = 0;
      for (size_t s = 0; s < args.segments; ++s) {
        const float* run = Run(args, s, i);
        for (size_t k = j; k < args.segment_words; k += args.n, rhs += columns) {
          sum = std::fma(run[k], *rhs, sum);
        }
      }
      args.out[i * args.out_stride + j] = Clamp(sum + args.bias[j], args.range);
    }
  }
}

}  // namespace larq_engine
