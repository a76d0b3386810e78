// The products of floats for AVX2 and AVX-512: a value of a pixel is broadcast to all lanes.
// Everything here is internal to the file that includes it.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_X86_H_
#define LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_X86_H_

#include <immintrin.h>

#include "larq_engine/kernels/floats/float_vectors.h"

namespace larq_engine {
namespace {

struct Vec8 {
  using Vector = __m256;
  static constexpr size_t kLanes = 8;
  using Lanes = CountedLanes<kLanes>;

  static Vector Zero() { return _mm256_setzero_ps(); }
  static Vector Set(float value) { return _mm256_set1_ps(value); }
  static Vector Load(const float* from) { return _mm256_load_ps(from); }
  static Vector LoadAny(const float* from) { return _mm256_loadu_ps(from); }
  static void StoreAny(float* to, Vector v) { _mm256_storeu_ps(to, v); }
  static Vector Add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  // If `v` is NaN, the result is NaN.
  static Vector AtLeast(Vector least, Vector v) { return _mm256_max_ps(least, v); }
  static Vector AtMost(Vector most, Vector v) { return _mm256_min_ps(most, v); }
  static Vector MultiplyAdd(Vector a, Vector b, Vector sum) { return _mm256_fmadd_ps(a, b, sum); }

  // This is no masked load, because QEMU, which emulates CPUs for our tests, loads all lanes of
  // one.
  static Vector LoadSome(const float* from, Lanes lanes) {
    constexpr size_t kHalf = kLanes / 2;
    if (lanes.count < kHalf) return _mm256_zextps128_ps256(LoadFewer(from, lanes.count));
    return _mm256_set_m128(LoadFewer(from + kHalf, lanes.count - kHalf), _mm_loadu_ps(from));
  }
  static void StoreSome(float* to, Lanes lanes, Vector v) {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i count = _mm256_set1_epi32(static_cast<int>(lanes.count));
    _mm256_maskstore_ps(to, _mm256_cmpgt_epi32(count, numbers), v);
  }

 private:
  // Loads fewer than four floats.
  static __m128 LoadFewer(const float* from, size_t count) {
    if (count == 0) return _mm_setzero_ps();
    if (count == 1) return _mm_load_ss(from);
    const __m128 two = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return count == 2 ? two : _mm_movelh_ps(two, _mm_load_ss(from + 2));
  }
};

// Multiplies a tile in which an output adds up all channels of its pixel.
template <typename Vec, int kPixels, int kVectors>
void MultiplyTile(const FloatArgs& args, size_t first, size_t column) {
  Tile<Vec, kPixels, kVectors> tile(args, first, column);
  // The right side fills up a block that is narrower than kFloatLanes.
  constexpr size_t kBlockColumns = RoundUp(kVectors * Vec::kLanes, kFloatLanes);
  const float* rhs = args.rhs + column * (args.segments * args.segment_words);
  tile.Sum(1, rhs, kBlockColumns, [&](const auto& runs, size_t k, const float* filters) {
    typename Vec::Vector weights[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) weights[v] = Vec::Load(filters + v * Vec::kLanes);
#pragma GCC unroll 6
    for (int i = 0; i < kPixels; ++i) {
      const auto value = Vec::Set(runs[i][k]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        tile.sum[i][v] = Vec::MultiplyAdd(value, weights[v], tile.sum[i][v]);
      }
    }
  });
  tile.Write();
}

template <typename Vec, int kVectors>
void MultiplyColumns(const FloatArgs& args, size_t column) {
  ForPixels(args.m, [&]<int kPixels>(size_t first) {
    MultiplyTile<Vec, kPixels, kVectors>(args, first, column);
  });
}

// Tells whether there are kFloatPixels pixels, and each run is a step after the one before.
inline bool AreInLine(const FloatArgs& args) {
  return args.m == kFloatPixels && args.pixel_step != 0;
}

// Multiplies one vector of columns, for pixels that are in line. Four pointers and the step reach
// all of them, each with an offset that an instruction can have; twelve pointers do not fit the
// registers.
template <typename Vec>
void MultiplyInLine(const FloatArgs& args, size_t column) {
  constexpr int kPointers = 4, kPixelsOfEach = kFloatPixels / kPointers;
  Tile<Vec, kFloatPixels, 1> tile(args, 0, column);
  const size_t step = args.pixel_step;
  const float* rhs = args.rhs + column * (args.segments * args.segment_words);
  for (size_t s = 0; s < args.segments; ++s) {
    const float* at[kPointers];
#pragma GCC unroll 4
    for (int p = 0; p < kPointers; ++p) {
      const size_t pixels = static_cast<size_t>(p * kPixelsOfEach);
      at[p] = LhsRun(args.lhs_base, args.lhs[s * kFloatPixels]) + pixels * step;
    }
    for (size_t k = 0; k < args.segment_words; ++k, rhs += kFloatLanes) {
      const auto weights = Vec::Load(rhs);
#pragma GCC unroll 4
      for (int p = 0; p < kPointers; ++p) {
        asm("" : "+r"(at[p]));  // otherwise gcc 12 makes twelve of them: 47 GMAC/s and not 49
#pragma GCC unroll 3
        for (int i = 0; i < kPixelsOfEach; ++i) {
          auto& sum = tile.sum[p * kPixelsOfEach + i][0];
          sum = Vec::MultiplyAdd(Vec::Set(at[p][static_cast<size_t>(i) * step]), weights, sum);
        }
        ++at[p];
      }
    }
  }
  tile.Write();
}

// Multiplies one vector of channels by themselves, for pixels that are in line. Pixels that are
// neighbours share taps: each is loaded once for all of them.
template <typename Vec, int kPixels, int kTaps, int kStep>
void MultiplyLineChannels(const FloatArgs& args, size_t first, size_t column) {
  Tile<Vec, kPixels, 1> tile(args, first, column);
  const size_t columns = RoundUp(args.n, kFloatLanes);
  const float* filter = args.rhs + column;
  for (size_t s = 0; s < args.segments; ++s) {
    typename Vec::Vector weights[kTaps];
#pragma GCC unroll 5
    for (int t = 0; t < kTaps; ++t, filter += columns) weights[t] = Vec::Load(filter);
    const float* at = LhsRun(args.lhs_base, args.lhs[s * kFloatPixels + first]) + column;
#pragma GCC unroll 32
    for (int x = 0; x < (kPixels - 1) * kStep + kTaps; ++x, at += args.n) {
      const auto value = Vec::LoadAny(at);
#pragma GCC unroll 5
      for (int t = 0; t < kTaps; ++t) {
        const int pixel = (x - t) / kStep;
        if (x < t || (x - t) % kStep != 0 || pixel >= kPixels) continue;
        tile.sum[pixel][0] = Vec::MultiplyAdd(value, weights[t], tile.sum[pixel][0]);
      }
    }
  }
  tile.Write();
}

// Multiplies whole vectors of channels by themselves, if pixels are kStep taps after each other and
// their runs have kTaps taps. Returns the first column that is left: 0 if they are not.
template <typename Vec, int kTaps, int kStep>
size_t MultiplyLines(const FloatArgs& args) {
  if (args.pixel_step != kStep * args.n || args.segment_words != kTaps * args.n) return 0;
  size_t column = 0;
  for (; column + Vec::kLanes <= args.n; column += Vec::kLanes) {
    // The sums of all pixels and five weights do not fit the registers of AVX2.
    if (kTaps == 3 && args.m == kFloatPixels) {
      MultiplyLineChannels<Vec, kFloatPixels, kTaps, kStep>(args, 0, column);
    } else {
      ForPixels(args.m, [&]<int kPixels>(size_t first) {
        MultiplyLineChannels<Vec, kPixels, kTaps, kStep>(args, first, column);
      });
    }
  }
  return column;
}

// Does so for the windows of common networks.
template <typename Vec>
size_t MultiplyAnyLines(const FloatArgs& args) {
  if (const size_t done = MultiplyLines<Vec, 3, 1>(args); done > 0) return done;
  if (const size_t done = MultiplyLines<Vec, 3, 2>(args); done > 0) return done;
  if (const size_t done = MultiplyLines<Vec, 5, 1>(args); done > 0) return done;
  return MultiplyLines<Vec, 5, 2>(args);
}

// Multiplies at most eight columns.
inline void MultiplyFewColumns(const FloatArgs& args, size_t column) {
  if (AreInLine(args)) return MultiplyInLine<Vec8>(args, column);
  MultiplyColumns<Vec8, 1>(args, column);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_X86_FLOAT_X86_H_
