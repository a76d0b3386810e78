// As the row for AVX-512, with blocks of 16 filters: six pixels by two vectors are 12 sums, which
// leaves registers for the filters and a value. So do twelve pixels by one vector.
#include "larq_engine/kernels/x86/float_avx2.h"

#include <immintrin.h>

#if !defined(__AVX2__) || !defined(__FMA__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"] and ISA_COPTS[\"fma\"]"
#endif

namespace larq_engine {
namespace {

constexpr int kMostPixels = 6;
constexpr int kMostVectors = 2;
constexpr size_t kLanes = 8;

static_assert(kFloatPixels % kMostPixels == 0 && kMostVectors * kLanes == kFloatLanes);

// All bits of the lanes below `lanes`.
inline __m256i LanesBelow(size_t lanes) {
  const auto count = static_cast<int>(lanes < kLanes ? lanes : kLanes);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// Fewer than four floats, and zeros.
inline __m128 LoadFewer(const float* values, size_t count) {
  if (count == 0) return _mm_setzero_ps();
  if (count == 1) return _mm_load_ss(values);
  const __m128 two = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(values)));
  return count == 2 ? two : _mm_movelh_ps(two, _mm_load_ss(values + 2));
}

// Fewer than eight. Not by a masked load, which is one of all lanes in QEMU: it emulates CPUs for
// our tests.
inline __m256 LoadLanes(const float* values, size_t count) {
  constexpr size_t kHalf = kLanes / 2;
  if (count < kHalf) return _mm256_zextps128_ps256(LoadFewer(values, count));
  return _mm256_set_m128(LoadFewer(values + kHalf, count - kHalf), _mm_loadu_ps(values));
}

// Writes the sums of a pixel, of which only the last vector may have lanes beyond the last column.
class Writer {
 public:
  Writer(FloatRange range, size_t columns_of_last)
      : min_(_mm256_set1_ps(range.min)),
        max_(_mm256_set1_ps(range.max)),
        last_(LanesBelow(columns_of_last)),
        is_whole_(columns_of_last >= kLanes) {}

  template <int kVectors>
  void Write(const __m256 (&sums)[kVectors], const __m256 (&bias)[kVectors], float* out) const {
    constexpr int kLast = kVectors - 1;
#pragma GCC unroll 2
    for (int v = 0; v < kLast; ++v) _mm256_storeu_ps(out + v * kLanes, Finish(sums[v], bias[v]));
    if (is_whole_) {
      _mm256_storeu_ps(out + kLast * kLanes, Finish(sums[kLast], bias[kLast]));
    } else {
      _mm256_maskstore_ps(out + kLast * kLanes, last_, Finish(sums[kLast], bias[kLast]));
    }
  }

 private:
  // NaN is the second operand and stays.
  __m256 Finish(__m256 sum, __m256 bias) const {
    return _mm256_min_ps(max_, _mm256_max_ps(min_, _mm256_add_ps(sum, bias)));
  }

  __m256 min_;
  __m256 max_;
  __m256i last_;
  bool is_whole_;
};

template <int kPixels, int kVectors>
inline void WriteTile(const FloatArgs& args, size_t first, size_t column,
                      const __m256 (&sum)[kPixels][kVectors]) {
  const Writer writer(args.range, args.n - column - (kVectors - 1) * kLanes);
  const size_t stride = args.out_stride;
  float* out = args.out + first * stride + column;
  __m256 bias[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) bias[v] = _mm256_load_ps(args.bias + column + v * kLanes);
#pragma GCC unroll 12
  for (int i = 0; i < kPixels; ++i, out += stride) writer.Write(sum[i], bias, out);
}

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

// Pixels from `first` on and columns from `column` on.
template <int kPixels, int kVectors>
void MultiplyTile(const FloatArgs& args, size_t first, size_t column) {
  const float* rhs = args.rhs + column * (args.segments * args.segment_words);
  __m256 sum[kPixels][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm256_setzero_ps();
  }
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* run[kPixels];
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) run[i] = FloatRun(args.lhs_base, lhs[i]);
    for (size_t k = 0; k < args.segment_words; ++k, rhs += kFloatLanes) {
      __m256 weights[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) weights[v] = _mm256_load_ps(rhs + v * kLanes);
#pragma GCC unroll 12
      for (int i = 0; i < kPixels; ++i) {
        const __m256 value = _mm256_broadcast_ss(run[i] + k);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v)
          sum[i][v] = _mm256_fmadd_ps(value, weights[v], sum[i][v]);
      }
    }
  }
  WriteTile(args, first, column, sum);
}

// The same, of each channel by itself.
template <int kPixels, int kVectors>
void MultiplyChannels(const FloatArgs& args, size_t first, size_t column) {
  const size_t channels = args.n;
  const size_t columns = (channels + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
  const size_t columns_of_last = channels - column - (kVectors - 1) * kLanes;
  const float* rhs = args.rhs + column;
  __m256 sum[kPixels][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm256_setzero_ps();
  }
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* run[kPixels];
#pragma GCC unroll 6
    for (int i = 0; i < kPixels; ++i) run[i] = FloatRun(args.lhs_base, lhs[i]) + column;
    for (size_t k = 0; k < args.segment_words; k += channels, rhs += columns) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const __m256 weights = _mm256_load_ps(rhs + v * kLanes);
#pragma GCC unroll 6
        for (int i = 0; i < kPixels; ++i) {
          const float* values = run[i] + k + v * kLanes;
          const bool is_whole = v < kVectors - 1 || columns_of_last >= kLanes;
          const __m256 value =
              is_whole ? _mm256_loadu_ps(values) : LoadLanes(values, columns_of_last);
          sum[i][v] = _mm256_fmadd_ps(value, weights, sum[i][v]);
        }
      }
    }
  }
  WriteTile(args, first, column, sum);
}

}  // namespace

void FloatPixels16Avx2(const FloatArgs& args) {
  size_t column = 0;
  for (; column + kLanes < args.n; column += kFloatLanes) {
    ForPixels(args.m, [&]<int kPixels>(size_t first) {
      MultiplyTile<kPixels, kMostVectors>(args, first, column);
    });
  }
  if (column >= args.n) return;
  if (args.m == kFloatPixels) return MultiplyTile<kFloatPixels, 1>(args, 0, column);
  ForPixels(args.m,
            [&]<int kPixels>(size_t first) { MultiplyTile<kPixels, 1>(args, first, column); });
}

void FloatChannelsAvx2(const FloatArgs& args) {
  size_t column = 0;
  for (; column + kLanes < args.n; column += kFloatLanes) {
    ForPixels(args.m, [&]<int kPixels>(size_t first) {
      MultiplyChannels<kPixels, kMostVectors>(args, first, column);
    });
  }
  if (column >= args.n) return;
  ForPixels(args.m,
            [&]<int kPixels>(size_t first) { MultiplyChannels<kPixels, 1>(args, first, column); });
}

}  // namespace larq_engine
