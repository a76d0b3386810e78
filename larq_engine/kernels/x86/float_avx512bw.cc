// Lanes are output channels: a value of a pixel is broadcast and meets those of 64 filters. Six
// pixels by four vectors of filters are 24 sums, which leaves registers for the filters; both FMA
// pipes of any CPU are busy with eight.
#include "larq_engine/kernels/x86/float_avx512bw.h"

#include <immintrin.h>

#if !defined(__AVX512BW__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine {
namespace {

constexpr int kMostPixels = 6;
constexpr int kMostVectors = 4;
constexpr size_t kColumns = kMostVectors * kFloatLanes;

static_assert(kFloatPixels % kMostPixels == 0);

inline __mmask16 LanesBelow(size_t lanes) {
  return static_cast<__mmask16>(lanes >= kFloatLanes ? 0xffff : (1u << lanes) - 1);
}

// Writes the sums of a pixel, of which only the last vector may have lanes beyond the last column.
class Writer {
 public:
  Writer(FloatRange range, size_t columns_of_last)
      : min_(_mm512_set1_ps(range.min)),
        max_(_mm512_set1_ps(range.max)),
        last_(LanesBelow(columns_of_last)) {}

  template <int kVectors>
  void Write(const __m512 (&sums)[kVectors], const __m512 (&bias)[kVectors], float* out) const {
    constexpr int kLast = kVectors - 1;
#pragma GCC unroll 4
    for (int v = 0; v < kLast; ++v)
      _mm512_storeu_ps(out + v * kFloatLanes, Finish(sums[v], bias[v]));
    if (last_ == kAll) {
      _mm512_storeu_ps(out + kLast * kFloatLanes, Finish(sums[kLast], bias[kLast]));
    } else {
      _mm512_mask_storeu_ps(out + kLast * kFloatLanes, last_, Finish(sums[kLast], bias[kLast]));
    }
  }

 private:
  // NaN is the second operand and stays. With all lanes in a mask: of its own form without one gcc
  // 12 says that it reads what was never written.
  __m512 Finish(__m512 sum, __m512 bias) const {
    const __m512 value = _mm512_add_ps(sum, bias);
    return _mm512_maskz_min_ps(kAll, max_, _mm512_maskz_max_ps(kAll, min_, value));
  }

  static constexpr __mmask16 kAll = 0xffff;
  __m512 min_;
  __m512 max_;
  __mmask16 last_;
};

// Calls `run` for all pixels: as many of them, and the first.
template <typename Fn>
inline void ForPixels(size_t pixels, Fn run) {
  size_t first = 0;
  for (; first + kMostPixels <= pixels; first += kMostPixels) {
    run.template operator()<kMostPixels>(first);
  }
  switch (pixels - first) {
    case 5:
      return run.template operator()<5>(first);
    case 4:
      return run.template operator()<4>(first);
    case 3:
      return run.template operator()<3>(first);
    case 2:
      return run.template operator()<2>(first);
    case 1:
      return run.template operator()<1>(first);
    default:
      return;
  }
}

template <int kPixels, int kVectors>
inline void WriteTile(const FloatArgs& args, size_t first, size_t column,
                      const __m512 (&sum)[kPixels][kVectors]) {
  const Writer writer(args.range, args.n - column - (kVectors - 1) * kFloatLanes);
  const size_t stride = args.out_stride;
  float* out = args.out + first * stride + column;
  __m512 bias[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) bias[v] = _mm512_load_ps(args.bias + column + v * kFloatLanes);
#pragma GCC unroll 6
  for (int i = 0; i < kPixels; ++i, out += stride) writer.Write(sum[i], bias, out);
}

// Pixels from `first` on and columns from `column` on.
template <int kPixels, int kVectors>
void MultiplyTile(const FloatArgs& args, size_t first, size_t column) {
  const float* rhs = args.rhs + column * (args.segments * args.segment_words);
  __m512 sum[kPixels][kVectors];
#pragma GCC unroll 6
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_setzero_ps();
  }
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* run[kPixels];
#pragma GCC unroll 6
    for (int i = 0; i < kPixels; ++i) run[i] = FloatRun(args.lhs_base, lhs[i]);
    for (size_t k = 0; k < args.segment_words; ++k, rhs += kVectors * kFloatLanes) {
      __m512 weights[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) weights[v] = _mm512_load_ps(rhs + v * kFloatLanes);
#pragma GCC unroll 6
      for (int i = 0; i < kPixels; ++i) {
        const __m512 value = _mm512_set1_ps(run[i][k]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          sum[i][v] = _mm512_fmadd_ps(value, weights[v], sum[i][v]);
        }
      }
    }
  }
  WriteTile(args, first, column, sum);
}

template <int kVectors>
void MultiplyColumns(const FloatArgs& args, size_t column) {
  ForPixels(args.m, [&]<int kPixels>(size_t first) {
    MultiplyTile<kPixels, kVectors>(args, first, column);
  });
}

// The same of at most eight columns, by half a vector: on a Zen 4 that takes half of the time.
template <int kPixels>
void MultiplyFewColumns(const FloatArgs& args, size_t first, size_t column) {
  const float* rhs = args.rhs + column * (args.segments * args.segment_words);
  const auto lanes = static_cast<__mmask8>(LanesBelow(args.n - column));
  __m256 sum[kPixels];
#pragma GCC unroll 12
  for (int i = 0; i < kPixels; ++i) sum[i] = _mm256_setzero_ps();
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* run[kPixels];
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) run[i] = FloatRun(args.lhs_base, lhs[i]);
    for (size_t k = 0; k < args.segment_words; ++k, rhs += kFloatLanes) {
      const __m256 weights = _mm256_load_ps(rhs);
#pragma GCC unroll 12
      for (int i = 0; i < kPixels; ++i) {
        sum[i] = _mm256_fmadd_ps(_mm256_set1_ps(run[i][k]), weights, sum[i]);
      }
    }
  }
  const __m256 min = _mm256_set1_ps(args.range.min), max = _mm256_set1_ps(args.range.max);
  const __m256 bias = _mm256_load_ps(args.bias + column);
  const size_t stride = args.out_stride;
  float* out = args.out + first * stride + column;
#pragma GCC unroll 12
  for (int i = 0; i < kPixels; ++i, out += stride) {
    const __m256 value = _mm256_min_ps(max, _mm256_max_ps(min, _mm256_add_ps(sum[i], bias)));
    if (lanes == 0xff) {
      _mm256_storeu_ps(out, value);
    } else {
      _mm256_mask_storeu_ps(out, lanes, value);
    }
  }
}

// The same, of each channel by itself.
template <int kPixels, int kVectors>
void MultiplyChannels(const FloatArgs& args, size_t first, size_t column) {
  const size_t channels = args.n;
  const size_t columns = (channels + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
  const __mmask16 last = LanesBelow(channels - column - (kVectors - 1) * kFloatLanes);
  const float* rhs = args.rhs + column;
  __m512 sum[kPixels][kVectors];
#pragma GCC unroll 6
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_setzero_ps();
  }
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* run[kPixels];
#pragma GCC unroll 6
    for (int i = 0; i < kPixels; ++i) run[i] = FloatRun(args.lhs_base, lhs[i]) + column;
    for (size_t k = 0; k < args.segment_words; k += channels, rhs += columns) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const __m512 weights = _mm512_load_ps(rhs + v * kFloatLanes);
#pragma GCC unroll 6
        for (int i = 0; i < kPixels; ++i) {
          const float* values = run[i] + k + v * kFloatLanes;
          const __m512 value =
              v < kVectors - 1 ? _mm512_loadu_ps(values) : _mm512_maskz_loadu_ps(last, values);
          sum[i][v] = _mm512_fmadd_ps(value, weights, sum[i][v]);
        }
      }
    }
  }
  WriteTile(args, first, column, sum);
}

}  // namespace

void FloatPixels64Avx512bw(const FloatArgs& args) {
  size_t column = 0;
  for (; column + kColumns - kFloatLanes < args.n; column += kColumns) {
    MultiplyColumns<kMostVectors>(args, column);
  }
  if (column >= args.n) return;
  switch ((args.n - column + kFloatLanes - 1) / kFloatLanes) {
    case 3:
      return MultiplyColumns<3>(args, column);
    case 2:
      return MultiplyColumns<2>(args, column);
    default:
      break;
  }
  if (args.n - column > kFloatLanes / 2) return MultiplyColumns<1>(args, column);
  if (args.m == kFloatPixels) return MultiplyFewColumns<kFloatPixels>(args, 0, column);
  ForPixels(args.m,
            [&]<int kPixels>(size_t first) { MultiplyFewColumns<kPixels>(args, first, column); });
}

void FloatChannelsAvx512bw(const FloatArgs& args) {
  size_t column = 0;
  for (; column + kColumns - kFloatLanes < args.n; column += kColumns) {
    ForPixels(args.m, [&]<int kPixels>(size_t first) {
      MultiplyChannels<kPixels, kMostVectors>(args, first, column);
    });
  }
  for (; column < args.n; column += kFloatLanes) {
    ForPixels(args.m, [&]<int kPixels>(size_t first) {
      MultiplyChannels<kPixels, 1>(args, first, column);
    });
  }
}

}  // namespace larq_engine
