// The product for vectors that cannot count bits themselves, written once for every vector length.
// Everything here is internal to the file that includes it: a copy compiled with ISA flags must
// never be merged with the copy of another ISA.
//
// Lanes are output channels: a left word is broadcast and meets a vector of filters, and no lane
// is ever summed with another. The words of an output are added in binary, each bit position on
// its own: `ones` and `twos` hold the two low digits of as many sums as a vector has bits. Only
// every fourth word produces a vector of fours, whose bits are counted by a look-up of nibbles.
// A Vector offers, beside Zero, Load, Broadcast, Xor, Add and Store of its 32-bit lanes:
//
//   CarrySave(sum, a, b)     the carry of sum + a + b, bit by bit; sum becomes the sum
//   AddTwoWords(sum, l, r)   the same of the bits in which each of two left words differs from its
//                            right one
//   CountBytes(v)            the ones of each byte
//   AddBytes(a, b)           a + b, byte by byte
//   SumBytes(v, weight)      weight times the bytes of each 32-bit lane, summed
#ifndef LARQ_ENGINE_KERNELS_BGEMM_CARRY_SAVE_H_
#define LARQ_ENGINE_KERNELS_BGEMM_CARRY_SAVE_H_

#include "larq_engine/kernels/bgemm.h"

namespace larq_engine {
namespace {

// A byte takes up to 8 ones from each vector of fours: 31 of them are 248.
inline constexpr size_t kFoursInBytes = 31;

// The words of one pixel, run after run.
template <int kTilePixels>
class LeftPixel {
 public:
  LeftPixel(const uint32_t* lhs_base, const ptrdiff_t* runs, size_t segment_words)
      : lhs_base_(lhs_base),
        runs_(runs),
        run_(LhsRun(lhs_base, *runs)),
        left_(segment_words),
        segment_words_(segment_words) {}

  [[gnu::always_inline]] uint32_t Next() {
    if (left_ == 0) {
      runs_ += kTilePixels;
      run_ = LhsRun(lhs_base_, *runs_);
      left_ = segment_words_;
    }
    --left_;
    return *run_++;
  }

 private:
  const uint32_t* lhs_base_;
  const ptrdiff_t* runs_;
  const uint32_t* run_;
  size_t left_;  // in this run
  size_t segment_words_;
};

// kVectors vectors of one pixel's outputs. Pixels are counted one after the other, not as a tile:
// the registers are full of digits, and the filters of a block stay in L1.
template <typename Vector, int kTilePixels, int kVectors>
class PixelCounter {
 public:
  using Lanes = typename Vector::Lanes;
  static constexpr size_t kCols = kVectors * Vector::kLanes;

  PixelCounter(const BgemmArgs& args, size_t i, const uint32_t* rhs)
      : left_(args.lhs_base, args.lhs + i, args.segment_words), rhs_(rhs) {}

  void Count(size_t words, size_t cols, int32_t* acc) {
    Lanes total[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) ones_[v] = twos_[v] = total[v] = Vector::Zero();
    StartWithRest(words % 4);
    for (size_t groups = words / 4; groups > 0;) {
      size_t now = groups < kFoursInBytes ? groups : kFoursInBytes;
      groups -= now;
      Lanes bytes[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) bytes[v] = Vector::Zero();
      for (; now > 0; --now) {
        Lanes a[kVectors], b[kVectors];
        AddTwoWords(a);
        AddTwoWords(b);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          const Lanes fours = Vector::CarrySave(twos_[v], a[v], b[v]);
          bytes[v] = Vector::AddBytes(bytes[v], Vector::CountBytes(fours));
        }
      }
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        total[v] = Vector::Add(total[v], Vector::SumBytes(bytes[v], 4));
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Lanes twos = Vector::CountBytes(twos_[v]);
      const Lanes low =
          Vector::AddBytes(Vector::CountBytes(ones_[v]), Vector::AddBytes(twos, twos));
      total[v] = Vector::Add(total[v], Vector::SumBytes(low, 1));
      const size_t first = v * Vector::kLanes;
      if (cols > first) Vector::Store(acc + first, total[v], cols - first);
    }
  }

 private:
  [[gnu::always_inline]] void AddTwoWords(Lanes (&carry)[kVectors]) {
    const Lanes left[] = {Vector::Broadcast(left_.Next()), Vector::Broadcast(left_.Next())};
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const uint32_t* rhs = rhs_ + v * Vector::kLanes;
      const Lanes right[] = {Vector::Load(rhs), Vector::Load(rhs + kCols)};
      carry[v] = Vector::AddTwoWords(ones_[v], left, right);
    }
    rhs_ += 2 * kCols;
  }

  // The words that do not fill a group of four come first, while the digits are still 0.
  [[gnu::always_inline]] void StartWithRest(size_t words) {
    if (words == 1 || words == 3) {
      const Lanes left = Vector::Broadcast(left_.Next());
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        ones_[v] = Vector::Xor(left, Vector::Load(rhs_ + v * Vector::kLanes));
      }
      rhs_ += kCols;
    }
    if (words >= 2) AddTwoWords(twos_);
  }

  LeftPixel<kTilePixels> left_;
  const uint32_t* rhs_;
  Lanes ones_[kVectors];
  Lanes twos_[kVectors];
};

template <typename Vector, int kTilePixels, int kVectors>
inline void BgemmCarrySave(const BgemmArgs& args) {
  using Counter = PixelCounter<Vector, kTilePixels, kVectors>;
  const size_t words = args.segments * args.segment_words;
  const uint32_t* rhs = args.rhs;
  for (size_t j = 0; j < args.n; j += Counter::kCols, rhs += words * Counter::kCols) {
    for (size_t i = 0; i < args.m; ++i) {
      Counter(args, i, rhs).Count(words, args.n - j, args.acc + i * args.acc_stride + j);
    }
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BGEMM_CARRY_SAVE_H_
