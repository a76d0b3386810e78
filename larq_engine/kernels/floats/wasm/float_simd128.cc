// WebAssembly has no fused multiply-add, so floats are multiplied and added as doubles. A product
// of two floats is exact as a double. Their sum is rounded to a double and then to a float, which
// gives the bits of a fused multiply-add unless the double lies in the middle between two floats.
// A tile is computed quickly first, and again exactly if one of its sums came to such a middle: one
// in 2^29 does if values are random, and more if they have few bits, as those of images may.
#include "larq_engine/kernels/floats/wasm/float_simd128.h"

#include <wasm_simd128.h>

#include "larq_engine/kernels/common/bits.h"

#if !defined(__wasm_simd128__)
#error "this file is built with the flags of ISA_COPTS[\"simd128\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kLanes = 4;
constexpr int kMostPixels = 2;  // more of them take no less time each in V8

// Four floats as doubles.
struct Four {
  v128_t low, high;
};

[[gnu::always_inline]] inline Four Widen(v128_t floats) {
  return {wasm_f64x2_promote_low_f32x4(floats),
          wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(floats, floats, 1, 1))};
}

[[gnu::always_inline]] inline Four Load(const float* from) {
  return {wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(from)),
          wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(from + 2))};
}

[[gnu::always_inline]] inline v128_t Narrow(Four doubles) {
  const v128_t low = wasm_f32x4_demote_f64x2_zero(doubles.low);
  const v128_t high = wasm_f32x4_demote_f64x2_zero(doubles.high);
  return wasm_i64x2_shuffle(low, high, 0, 2);
}

// Adds products, whose sums are rounded to 24 bits in integers. This is right for sums that are
// normal floats, or whose bits all fit a smaller one (AreOrdinary).
class QuickSums {
 public:
  [[gnu::always_inline]] void Add(Four a, Four b, Four& sum) {
    const v128_t low = Raised(a.low, b.low, sum.low), high = Raised(a.high, b.high, sum.high);
    const v128_t kept = wasm_i64x2_const_splat(-(int64_t{1} << kLeftOut));
    sum = {wasm_v128_and(low, kept), wasm_v128_and(high, kept)};
    const v128_t low_words = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
    least_ = wasm_u32x4_min(least_, wasm_i32x4_shl(low_words, 32 - kLeftOut));
  }
  // Tells whether no sum came to a middle.
  bool AreExact() const { return wasm_i32x4_all_true(least_); }

 private:
  static constexpr int kLeftOut = 53 - 24;  // bits of a double that a float does not have

  // Returns the sum plus half of what is rounded. If the sum was a middle, its last bits become 0.
  [[gnu::always_inline]] static v128_t Raised(v128_t a, v128_t b, v128_t sum) {
    return wasm_i64x2_add(wasm_f64x2_add(sum, wasm_f64x2_mul(a, b)),
                          wasm_i64x2_const_splat(int64_t{1} << (kLeftOut - 1)));
  }

  v128_t least_ = wasm_i32x4_const_splat(-1);
};

// Adds products of any values. What a sum of doubles loses is known exactly (Knuth). If it is not
// 0, the last bit of the sum is made 1 in its direction, and rounding again is then right (Boldo
// and Melquiond).
class ExactSums {
 public:
  [[gnu::always_inline]] void Add(Four a, Four b, Four& sum) const {
    sum = Widen(Narrow({ToOdd(a.low, b.low, sum.low), ToOdd(a.high, b.high, sum.high)}));
  }
  bool AreExact() const { return true; }

 private:
  [[gnu::always_inline]] static v128_t ToOdd(v128_t a, v128_t b, v128_t sum) {
    const v128_t product = wasm_f64x2_mul(a, b);
    const v128_t total = wasm_f64x2_add(sum, product);
    const v128_t added = wasm_f64x2_sub(total, sum);
    const v128_t lost = wasm_f64x2_add(wasm_f64x2_sub(sum, wasm_f64x2_sub(total, added)),
                                       wasm_f64x2_sub(product, added));
    const v128_t one = wasm_i64x2_const_splat(1);
    // -1 if what is lost has another sign than the sum. No x86 CPU before AVX-512 shifts 64 bits
    // so.
    const v128_t signs = wasm_i32x4_shr(wasm_v128_xor(lost, total), 31);
    const v128_t is_less = wasm_i32x4_shuffle(signs, signs, 1, 1, 3, 3);
    const v128_t is_even = wasm_i64x2_sub(wasm_v128_and(total, one), one);
    // It is false for NaN, which comes of infinite sums.
    const v128_t loses = wasm_f64x2_gt(wasm_f64x2_abs(lost), wasm_f64x2_const_splat(0));
    const v128_t step = wasm_v128_and(wasm_v128_or(is_less, one), wasm_v128_and(is_even, loses));
    return wasm_i64x2_add(total, step);
  }
};

// The least absolute value that is not 0, and the greatest one, as bits. NaN counts as the greatest
// of all.
class Extent {
 public:
  void Include(const float* values, size_t count) {
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) Include(wasm_v128_load(values + i));
    for (; i < count; ++i) Include(wasm_v128_load32_zero(values + i));
  }
  float least() const { return Float(Extreme(least_less_1_, true) + 1); }
  float greatest() const { return Float(Extreme(greatest_, false)); }

 private:
  [[gnu::always_inline]] void Include(v128_t values) {
    const v128_t sizes = wasm_f32x4_abs(values);
    // 0 becomes the greatest integer.
    least_less_1_ = wasm_u32x4_min(least_less_1_, wasm_i32x4_sub(sizes, wasm_i32x4_const_splat(1)));
    greatest_ = wasm_u32x4_max(greatest_, sizes);
  }
  static uint32_t Extreme(v128_t lanes, bool is_least) {
    uint32_t words[kLanes];
    wasm_v128_store(words, lanes);
    uint32_t extreme = words[0];
    for (uint32_t word : words) extreme = (word < extreme) == is_least ? word : extreme;
    return extreme;
  }
  static float Float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

  v128_t least_less_1_ = wasm_i32x4_const_splat(-1);
  v128_t greatest_ = wasm_i32x4_const_splat(0);
};

// Tells whether sums of products are normal floats or multiples of 2^-126, the smallest of these:
// the last bit of a product is at least 2^-46 of it.
bool AreOrdinary(const FloatArgs& args, size_t rhs_floats, size_t depth) {
  Extent left, right;
  for (size_t s = 0; s < args.segments; ++s) {
    for (size_t i = 0; i < args.m; ++i) {
      left.Include(LhsRun(args.lhs_base, args.lhs[s * kFloatPixels + i]), args.segment_words);
    }
  }
  right.Include(args.rhs, rhs_floats);
  const double least = static_cast<double>(left.least()) * static_cast<double>(right.least());
  const double greatest =
      static_cast<double>(left.greatest()) * static_cast<double>(right.greatest());
  return least >= 0x1p-80 && greatest * static_cast<double>(depth) < 0x1p127;
}

// The places of a tile's operands.
struct Steps {
  size_t words;      // of the left side from one step to the next
  const float* rhs;  // of the tile's columns
  size_t rhs_words;  // of the right side from one step to the next
};

// Computes a tile of four columns, of which `count` are wanted; returns whether it is exact.
// `left(at)` loads the values at a place of the left side.
template <typename Sums, int kPixels, typename Left>
[[gnu::always_inline]] inline bool ComputeTile(const FloatArgs& args, size_t first, size_t column,
                                               Steps steps, const Left& left) {
  Sums sums;
  Four sum[kPixels];
#pragma GCC unroll 4
  for (Four& one : sum) one = {wasm_f64x2_const_splat(0), wasm_f64x2_const_splat(0)};
  const ptrdiff_t* lhs = args.lhs + first;
  for (size_t s = 0; s < args.segments; ++s, lhs += kFloatPixels) {
    const float* runs[kPixels];
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) runs[i] = LhsRun(args.lhs_base, lhs[i]);
    for (size_t k = 0; k < args.segment_words; k += steps.words, steps.rhs += steps.rhs_words) {
      const Four weights = Load(steps.rhs);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) sums.Add(left(runs[i] + k), weights, sum[i]);
    }
  }
  if (!sums.AreExact()) return false;
  const v128_t bias = wasm_v128_load(args.bias + column);
  const v128_t least = wasm_f32x4_splat(args.range.min), most = wasm_f32x4_splat(args.range.max);
  const size_t columns = args.n - column;
  float* out = args.out + first * args.out_stride + column;
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i, out += args.out_stride) {
    const v128_t raised = wasm_f32x4_pmax(wasm_f32x4_add(Narrow(sum[i]), bias), least);
    const v128_t value = wasm_f32x4_pmin(raised, most);  // NaN stays
    if (columns >= kLanes) {
      wasm_v128_store(out, value);
    } else {
      wasm_v128_store32_lane(out, value, 0);
      if (columns > 1) wasm_v128_store32_lane(out + 1, value, 1);
      if (columns > 2) wasm_v128_store32_lane(out + 2, value, 2);
    }
  }
  return true;
}

// Computes four columns of kPixels pixels. If a tile needs exact sums, its neighbours do, too:
// then `is_quick` becomes false.
template <int kPixels, typename Left>
void ComputePixels(const FloatArgs& args, size_t first, size_t column, const Steps& steps,
                   const Left& left, bool& is_quick) {
  is_quick = is_quick && ComputeTile<QuickSums, kPixels>(args, first, column, steps, left);
  if (!is_quick) ComputeTile<ExactSums, kPixels>(args, first, column, steps, left);
}

// Computes four columns of all pixels.
template <typename Left>
void ComputeColumns(const FloatArgs& args, size_t column, const Steps& steps, const Left& left,
                    bool& is_quick) {
  size_t first = 0;
  for (; first + kMostPixels <= args.m; first += kMostPixels) {
    ComputePixels<kMostPixels>(args, first, column, steps, left, is_quick);
  }
  for (; first < args.m; ++first) {
    ComputePixels<1>(args, first, column, steps, left, is_quick);
  }
}

}  // namespace

void FloatPixels16Simd128(const FloatArgs& args) {
  const size_t depth = args.segments * args.segment_words;
  bool is_quick = AreOrdinary(args, depth * RoundUp(args.n, kFloatLanes), depth);
  const auto left = [](const float* at) {
    const v128_t value = wasm_f64x2_splat(static_cast<double>(*at));
    return Four{value, value};
  };
  for (size_t column = 0; column < args.n; column += kLanes) {
    const size_t block = column / kFloatLanes * kFloatLanes;
    const Steps steps = {
        .words = 1, .rhs = args.rhs + block * depth + (column - block), .rhs_words = kFloatLanes};
    ComputeColumns(args, column, steps, left, is_quick);
  }
}

void FloatChannelsSimd128(const FloatArgs& args) {
  const size_t columns = RoundUp(args.n, kFloatLanes);
  const size_t taps = args.segments * (args.segment_words / args.n);
  bool is_quick = AreOrdinary(args, taps * columns, taps);
  for (size_t column = 0; column < args.n; column += kLanes) {
    const Steps steps = {.words = args.n, .rhs = args.rhs + column, .rhs_words = columns};
    if (column + kLanes <= args.n) {
      const auto left = [column](const float* at) { return Load(at + column); };
      ComputeColumns(args, column, steps, left, is_quick);
    } else {
      const auto left = [column, count = args.n - column](const float* at) {
        float values[kLanes] = {};
        for (size_t i = 0; i < count; ++i) values[i] = at[column + i];
        return Load(values);
      };
      ComputeColumns(args, column, steps, left, is_quick);
    }
  }
}

}  // namespace larq_engine
