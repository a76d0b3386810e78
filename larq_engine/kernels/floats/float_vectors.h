// The tiles of products of floats, written once for vectors of all ISAs. Everything here is
// internal to the file that includes it: a copy compiled with ISA flags must never be merged with
// the copy of another ISA.
//
// Lanes are output channels: a value of a pixel meets those of some vectors of filters. The sums of
// a tile stay in registers: six pixels by two vectors of AVX2, or by four of AVX-512 or NEON. They
// keep both FMA pipes of any CPU busy, and leave registers for filters and values.
//
// A Vec has kLanes floats in a Vector. It offers Zero, Set, Load (aligned), LoadAny, StoreAny, Add,
// AtLeast, AtMost, MultiplyAdd and
//
//   Lanes(count)                   the first `count` lanes, or all if there are fewer
//   LoadSome(from, lanes)          loads those; the others are 0, and their memory is not read
//   StoreSome(to, lanes, v)        stores those and nothing more
#ifndef LARQ_ENGINE_KERNELS_FLOATS_FLOAT_VECTORS_H_
#define LARQ_ENGINE_KERNELS_FLOATS_FLOAT_VECTORS_H_

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/floats/float_product.h"

namespace larq_engine {
namespace {

constexpr int kMostPixels = 6;  // except for pixels in line
static_assert(kFloatPixels % kMostPixels == 0);

// The Lanes of a Vec without masks.
template <size_t kLanes>
struct CountedLanes {
  explicit CountedLanes(size_t wanted) : count(wanted < kLanes ? wanted : kLanes) {}
  bool are_all() const { return count == kLanes; }
  size_t count;
};

// Calls `run` for all pixels: with a number of pixels as its template argument, and the first of
// them.
template <typename Run>
inline void ForPixels(size_t pixels, Run run) {
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

// A tile whose columns begin with `column`, and whose pixels begin with `first`. Only the last of
// its vectors may have lanes beyond the last column.
template <typename Vec, int kPixels, int kVectors>
struct Tile {
  using Vector = typename Vec::Vector;
  using Runs = const float* [kPixels];
  static constexpr size_t kLast = (kVectors - 1) * Vec::kLanes;

  const FloatArgs& args;
  const size_t first;
  const size_t column;
  const typename Vec::Lanes last;
  Vector sum[kPixels][kVectors];

  [[gnu::always_inline]] Tile(const FloatArgs& args, size_t first, size_t column)
      : args(args), first(first), column(column), last(args.n - column - kLast) {
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] = Vec::Zero();
    }
  }

  // Finds the runs of a segment, whose offsets begin with `lhs`.
  [[gnu::always_inline]] void FindRuns(const ptrdiff_t* lhs, Runs& runs) const {
#pragma GCC unroll 6
    for (int i = 0; i < kPixels; ++i) runs[i] = LhsRun(args.lhs_base, lhs[i]);
  }

  // Calls `add(runs, k, rhs)` for every k, in steps of `words`, while the right side moves by
  // `rhs_step`.
  template <typename AddStep>
  [[gnu::always_inline]] void Sum(size_t words, const float* rhs, size_t rhs_step,
                                  AddStep add) const {
    const ptrdiff_t* lhs = args.lhs + first;
    for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
      Runs runs;
      FindRuns(lhs, runs);
      for (size_t k = 0; k < args.segment_words; k += words, rhs += rhs_step) add(runs, k, rhs);
    }
  }

  [[gnu::always_inline]] void Write() const {
    const Vector least = Vec::Set(args.range.min), most = Vec::Set(args.range.max);
    const size_t stride = args.out_stride;
    Vector bias[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) bias[v] = Vec::Load(args.bias + column + v * Vec::kLanes);
    float* out = args.out + first * stride + column;
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i, out += stride) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Vector value = Vec::AtMost(most, Vec::AtLeast(least, Vec::Add(sum[i][v], bias[v])));
        float* to = out + v * Vec::kLanes;
        if (v < kVectors - 1 || last.are_all()) {
          Vec::StoreAny(to, value);
        } else {
          Vec::StoreSome(to, last, value);
        }
      }
    }
  }
};

// Multiplies a tile in which each channel is computed by itself.
template <typename Vec, int kPixels, int kVectors>
void MultiplyTileChannels(const FloatArgs& args, size_t first, size_t column) {
  Tile<Vec, kPixels, kVectors> tile(args, first, column);
  const size_t columns = RoundUp(args.n, kFloatLanes);
  tile.Sum(args.n, args.rhs + column, columns, [&](const auto& runs, size_t k, const float* taps) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const size_t at = v * Vec::kLanes;
      const auto weights = Vec::Load(taps + at);
#pragma GCC unroll 6
      for (int i = 0; i < kPixels; ++i) {
        const float* values = runs[i] + k + column + at;
        const bool is_whole = v < kVectors - 1 || tile.last.are_all();
        const auto value = is_whole ? Vec::LoadAny(values) : Vec::LoadSome(values, tile.last);
        tile.sum[i][v] = Vec::MultiplyAdd(value, weights, tile.sum[i][v]);
      }
    }
  });
  tile.Write();
}

template <typename Vec, int kVectors>
void MultiplyChannels(const FloatArgs& args, size_t column) {
  ForPixels(args.m, [&]<int kPixels>(size_t first) {
    MultiplyTileChannels<Vec, kPixels, kVectors>(args, first, column);
  });
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_FLOAT_VECTORS_H_
