#include "larq_engine/kernels/floats/float_portable.h"

#include <cmath>
#include <cstring>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

#if defined(__wasm__)
// Computes a fused multiply-add, which WebAssembly has not. That of emscripten's C library is wrong
// if the sum of doubles is inexact and lies in the middle between two floats.
float MultiplyAdd(float a, float b, float sum) {
  const double product = static_cast<double>(a) * b;
  const double total = product + sum;
  const double added = total - product;
  const double lost = (product - (total - added)) + (sum - added);
  auto bits = __builtin_bit_cast(uint64_t, total);
  // The last bit of an inexact sum becomes 1, in the direction of what is lost. For infinite sums
  // that is NaN, which counts as nothing.
  if ((lost < 0 || lost > 0) && bits % 2 == 0) bits += (lost < 0) == (total < 0) ? 1 : ~uint64_t{0};
  return static_cast<float>(__builtin_bit_cast(double, bits));
}
#else
float MultiplyAdd(float a, float b, float sum) { return std::fma(a, b, sum); }
#endif

const float* Run(const FloatArgs& args, size_t segment, size_t pixel) {
  return LhsRun(args.lhs_base, args.lhs[segment * kFloatPixels + pixel]);
}

template <size_t kLanes>
void Write(const FloatArgs& args, size_t pixel, size_t column, const float (&sums)[kLanes]) {
  float* out = args.out + pixel * args.out_stride + column;
  std::memcpy(out, sums, sizeof(sums));
  for (size_t c = 0; c < kLanes; ++c) out[c] = Clamp(out[c] + args.bias[column + c], args.range);
}

// Computes kLanes columns, which lie in one block of the right side.
template <size_t kLanes>
void MultiplyColumns(const FloatArgs& args, size_t pixel, size_t column) {
  const size_t depth = args.segments * args.segment_words;
  const float* rhs = args.rhs + column / kFloatLanes * kFloatLanes * depth + column % kFloatLanes;
  float sums[kLanes] = {};
  for (size_t s = 0; s < args.segments; ++s) {
    const float* run = Run(args, s, pixel);
    for (size_t k = 0; k < args.segment_words; ++k, rhs += kFloatLanes) {
      for (size_t c = 0; c < kLanes; ++c) sums[c] = MultiplyAdd(run[k], rhs[c], sums[c]);
    }
  }
  Write(args, pixel, column, sums);
}

// Computes kLanes channels, each by itself.
template <size_t kLanes>
void MultiplyChannels(const FloatArgs& args, size_t pixel, size_t channel) {
  const size_t columns = RoundUp(args.n, kFloatLanes);
  const float* rhs = args.rhs + channel;
  float sums[kLanes] = {};
  for (size_t s = 0; s < args.segments; ++s) {
    const float* run = Run(args, s, pixel);
    for (size_t k = channel; k < args.segment_words; k += args.n, rhs += columns) {
      for (size_t c = 0; c < kLanes; ++c) sums[c] = MultiplyAdd(run[k + c], rhs[c], sums[c]);
    }
  }
  Write(args, pixel, channel, sums);
}

// Calls compute<kLanes>(pixel, column) for all of the output. The sums of kLanes columns stay in
// registers. Where the CPU has fused multiply-adds of vectors, as on ARM, the compiler uses them.
template <typename Compute>
void ForColumns(const FloatArgs& args, const Compute& compute) {
  for (size_t pixel = 0; pixel < args.m; ++pixel) {
    size_t column = 0;
    for (; column + 16 <= args.n; column += 16) compute.template operator()<16>(pixel, column);
    for (; column + 4 <= args.n; column += 4) compute.template operator()<4>(pixel, column);
    for (; column < args.n; ++column) compute.template operator()<1>(pixel, column);
  }
}

}  // namespace

void FloatPixels16Portable(const FloatArgs& args) {
  ForColumns(args, [&]<size_t kLanes>(size_t pixel, size_t column) {
    MultiplyColumns<kLanes>(args, pixel, column);
  });
}

void FloatChannelsPortable(const FloatArgs& args) {
  ForColumns(args, [&]<size_t kLanes>(size_t pixel, size_t channel) {
    MultiplyChannels<kLanes>(args, pixel, channel);
  });
}

}  // namespace larq_engine
