// Computes blocks of 16 filters, four vectors. An FMLA multiplies them by one lane of a vector,
// which holds four values of a pixel: a load that fills all lanes with one value would take a turn
// of the units that multiply. With tiles of four pixels and not six, a Cortex-A55 would take a
// quarter more cycles (llvm-mca 19), and larger cores as many.
#include "larq_engine/kernels/floats/arm64/float_neon.h"

// Before gcc assigns registers it would move loads up, and sums would no longer fit: 157
// instructions for 96 FMLA and not 124.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns")
#endif

#include <arm_neon.h>

#include "larq_engine/kernels/floats/float_vectors.h"

namespace larq_engine {
namespace {

struct Vec4 {
  using Vector = float32x4_t;
  static constexpr size_t kLanes = 4;
  using Lanes = CountedLanes<kLanes>;

  static Vector Zero() { return vdupq_n_f32(0); }
  static Vector Set(float value) { return vdupq_n_f32(value); }
  static Vector Load(const float* from) { return vld1q_f32(from); }
  static Vector LoadAny(const float* from) { return vld1q_f32(from); }
  static void StoreAny(float* to, Vector v) { vst1q_f32(to, v); }
  static Vector Add(Vector a, Vector b) { return vaddq_f32(a, b); }
  // FMAX and FMIN would turn -0.0 into the end of a range that is 0.0.
  static Vector AtLeast(Vector least, Vector v) { return vbslq_f32(vcgtq_f32(least, v), least, v); }
  static Vector AtMost(Vector most, Vector v) { return vbslq_f32(vcltq_f32(most, v), most, v); }
  static Vector MultiplyAdd(Vector a, Vector b, Vector sum) { return vfmaq_f32(sum, a, b); }

  static Vector LoadSome(const float* from, Lanes lanes) {
    if (lanes.count == 1) return vld1q_lane_f32(from, Zero(), 0);
    const Vector two = vcombine_f32(vld1_f32(from), vdup_n_f32(0));
    return lanes.count == 2 ? two : vld1q_lane_f32(from + 2, two, 2);
  }
  static void StoreSome(float* to, Lanes lanes, Vector v) {
    if (lanes.count == 1) return vst1q_lane_f32(to, v, 0);
    vst1_f32(to, vget_low_f32(v));
    if (lanes.count == 3) vst1q_lane_f32(to + 2, v, 2);
  }
};

constexpr int kBlockVectors = 4;
static_assert(kBlockVectors * Vec4::kLanes == kFloatLanes);

// Adds the products of one lane of each pixel's values with a row of filters.
template <int kLane, int kPixels, int kVectors>
[[gnu::always_inline]] inline void AddLane(const float32x4_t (&values)[kPixels],
                                           const float* filters,
                                           float32x4_t (&sum)[kPixels][kVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const float32x4_t weights = vld1q_f32(filters + static_cast<size_t>(v) * Vec4::kLanes);
#pragma GCC unroll 6
    for (int i = 0; i < kPixels; ++i) {
      sum[i][v] = vfmaq_laneq_f32(sum[i][v], weights, values[i], kLane);
    }
  }
}

// Multiplies a tile in which an output adds up all channels of its pixel.
template <int kPixels, int kVectors>
void MultiplyTile(const FloatArgs& args, size_t first, size_t column) {
  Tile<Vec4, kPixels, kVectors> tile(args, first, column);
  const size_t depth = args.segments * args.segment_words;
  const float* rhs = args.rhs + column / kFloatLanes * kFloatLanes * depth + column % kFloatLanes;
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* runs[kPixels];
    tile.FindRuns(lhs, runs);
    float32x4_t values[kPixels];
    size_t k = 0;
    for (; k + Vec4::kLanes <= args.segment_words; k += Vec4::kLanes) {
#pragma GCC unroll 6
      for (int i = 0; i < kPixels; ++i) values[i] = vld1q_f32(runs[i] + k);
      AddLane<0>(values, rhs, tile.sum);
      AddLane<1>(values, rhs + kFloatLanes, tile.sum);
      AddLane<2>(values, rhs + 2 * kFloatLanes, tile.sum);
      AddLane<3>(values, rhs + 3 * kFloatLanes, tile.sum);
      rhs += Vec4::kLanes * kFloatLanes;
    }
    for (; k < args.segment_words; ++k, rhs += kFloatLanes) {
#pragma GCC unroll 6
      for (int i = 0; i < kPixels; ++i) values[i] = vld1q_dup_f32(runs[i] + k);
      AddLane<0>(values, rhs, tile.sum);
    }
  }
  tile.Write();
}

// Calls `multiply` for all columns: with a number of vectors as its template argument, and the
// first of their columns.
template <typename Multiply>
inline void ForColumns(size_t columns, Multiply multiply) {
  size_t column = 0;
  for (; column + kFloatLanes - Vec4::kLanes < columns; column += kFloatLanes) {
    multiply.template operator()<kBlockVectors>(column);
  }
  for (; column < columns; column += Vec4::kLanes) multiply.template operator()<1>(column);
}

}  // namespace

void FloatPixels16Neon(const FloatArgs& args) {
  ForColumns(args.n, [&]<int kVectors>(size_t column) {
    ForPixels(args.m, [&]<int kPixels>(size_t first) {
      MultiplyTile<kPixels, kVectors>(args, first, column);
    });
  });
}

void FloatChannelsNeon(const FloatArgs& args) {
  ForColumns(args.n,
             [&]<int kVectors>(size_t column) { MultiplyChannels<Vec4, kVectors>(args, column); });
}

}  // namespace larq_engine
