// The loops that are added to those of pixel_ops_vectors.h by ISAs that make bits of a comparison's
// lanes with one instruction: accumulators become values, and values become bits. Everything here
// is internal to the file that includes it.
//
// A Vec, which pixel_ops_vectors.h describes, also offers
//
//   SetInts, SubtractInts, LesserInts, GreaterInts, Twice
//   Half(x)                  half of integers, rounded down
//   AndNot(a, b)             ~a & b
//   WithBits(a, b, mask)     a | (b & mask), of the bits of floats
//   Xor(floats, ints), ToFloats(ints), Truncate(floats)
//   Less(a, b), LessInts     a Mask of the lanes where a < b
//   Bits(mask)               the bits of a vector's lanes
//   Word, Bits(four masks)   those of four vectors, one or two words
//   DealRows                 does what that of pixel_ops_rows.h does
//
// Bytes have a Vec of their own, with ForRest and
//
//   Set, Load
//   Less(a, b), IsZero(a)    a Mask
//   Word, Bits(mask)         the bits of a vector's lanes
//   DealRows
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_MASKS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_MASKS_H_

#include "larq_engine/kernels/pixels/pixel_ops_vectors.h"

namespace larq_engine {
namespace {

// One value, and below one byte, for ISAs that cannot leave out lanes. AVX2 is one of them, because
// emulators read what the mask of a masked load leaves out.
struct OneValue : OneLane {
  static int32_t SetInts(int32_t value) { return value; }
  static int32_t SubtractInts(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
  }
  static int32_t Twice(int32_t x) { return static_cast<int32_t>(2 * static_cast<uint32_t>(x)); }
  static float Xor(float x, int32_t bits) {
    return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, x) ^ bits);
  }
  static bool Less(float a, float b) { return a < b; }
  static bool LessInts(int32_t a, int32_t b) { return a < b; }
  static uint32_t Bits(bool is_set) { return is_set; }
};

struct OneByte {
  static int8_t Set(int8_t value) { return value; }
  template <typename T>
  static T Load(const T* from) {
    return *from;
  }
  static bool Less(int8_t a, int8_t b) { return a < b; }
  static bool IsZero(uint8_t a) { return a == 0; }
  static uint32_t Bits(bool is_set) { return is_set; }
};

// ---- Accumulators to numbers ----

// y = clamp(dot) * multiplier + bias, for a vector of accumulators.
template <typename Vec, bool kClamp>
struct AffineVector {
  typename Vec::Ints dot_min;
  typename Vec::Ints dot_max;
  explicit AffineVector(const TransformArgs& args)
      : dot_min(Vec::SetInts(args.dot_min)), dot_max(Vec::SetInts(args.dot_max)) {}
  typename Vec::Floats operator()(typename Vec::Ints depth, typename Vec::Ints acc,
                                  typename Vec::Floats multiplier,
                                  typename Vec::Floats bias) const {
    auto dot = Vec::SubtractInts(depth, Vec::Twice(acc));
    if (kClamp) dot = Vec::LesserInts(Vec::GreaterInts(dot, dot_min), dot_max);
    return Vec::Add(Vec::Multiply(Vec::ToFloats(dot), multiplier), bias);
  }
};

// Calls store(v, at, y) for vectors of y, where row(i, channel) returns the store for the values of
// a row from a channel on. Channels are computed in blocks, whose multipliers and biases stay in
// registers from row to row. Returns the first channel that is left.
template <typename Vec, bool kClamp, typename Row>
inline size_t AffineBlocks(const TransformArgs& args, const Row& row) {
  const auto all_rows = [&]<size_t kCount>(auto v, size_t channel) {
    const AffineVector<Vec, kClamp> affine(args);
    typename Vec::Floats multiplier[kCount], bias[kCount];
#pragma GCC unroll 4
    for (size_t k = 0; k < kCount; ++k) {
      multiplier[k] = v.Load(args.multiplier + channel + k * v.kLanes);
      bias[k] = v.Load(args.bias + channel + k * v.kLanes);
    }
    const int32_t* acc = args.acc + channel;
    for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
      const auto store = row(i, channel);
      const auto depth = v.SetInts(args.depth[i]);
#pragma GCC unroll 4
      for (size_t k = 0; k < kCount; ++k) {
        const auto y = affine(depth, v.LoadInts(acc + k * v.kLanes), multiplier[k], bias[k]);
        store(v, k * v.kLanes, y);
      }
    }
  };
  if constexpr (Vec::kMasksLanes) {
    ForVectors<Vec>(args.channels, all_rows);
    return args.channels;
  } else {
    return ForWholeVectors<Vec>(args.channels, all_rows);
  }
}

template <typename Vec, typename Row>
inline size_t Affine(const TransformArgs& args, const Row& row) {
  if (Clamps(args)) return AffineBlocks<Vec, true>(args, row);
  return AffineBlocks<Vec, false>(args, row);
}

// Returns how many channels it has computed.
template <typename Vec>
inline size_t ToFloatVectors(const TransformArgs& args) {
  const ResidualSum& sum = args.sum;
  if (sum.addend == nullptr) {
    return Affine<Vec>(args, [&args](size_t i, size_t channel) {
      float* out = OutRow<float>(args, i) + channel;
      return [out](auto v, size_t at, auto y) { v.Store(out + at, y); };
    });
  }
  const auto store_sums = [&](const auto& before, const auto& after) {
    return Affine<Vec>(args, [&](size_t i, size_t channel) {
      const float* addend = AddendRow(args, i) + channel;
      float* out = OutRow<float>(args, i) + channel;
      return [=, &before, &after](auto v, size_t at, auto y) {
        y = v.Add(before(v, channel + at, y), v.Load(addend + at));
        v.Store(out + at, after(v, y));
      };
    });
  };
  const auto no_gate = [](auto, size_t, auto y) { return y; };
  const auto gate = [&sum](auto v, size_t c, auto y) {
    return v.Prelu(v.Multiply(y, v.Load(sum.gate + c)), v.Load(sum.slopes + c));
  };
  const ClampTo<false, false> no_clamp{sum.range};
  const ClampTo<true, true> clamp{sum.range};
  const bool is_clamped = !ClampsNothing(sum.range);
  if (sum.gate == nullptr) {
    return is_clamped ? store_sums(no_gate, clamp) : store_sums(no_gate, no_clamp);
  }
  return is_clamped ? store_sums(gate, clamp) : store_sums(gate, no_clamp);
}

template <typename Vec>
void ToFloat(const TransformArgs& given) {
  const TransformArgs args = given;  // a copy, which writing the output cannot change
  const size_t done = ToFloatVectors<Vec>(args);
  if (done == args.channels) return;
  ToFloat(ChannelsOf(args, done, args.channels - done, done * sizeof(float)));
}

// Rounds as Int8Ends does.
template <typename Vec>
struct RoundVector {
  typename Vec::Floats lowest, highest, half, sign;
  typename Vec::Ints zero_point;
  explicit RoundVector(const Int8Ends& ends)
      : lowest(Vec::Set(ends.lowest)),
        highest(Vec::Set(ends.highest)),
        half(Vec::Set(kBelowHalf)),
        sign(Vec::Set(-0.0f)),
        zero_point(Vec::SetInts(ends.zero_point)) {}
  typename Vec::Ints operator()(typename Vec::Floats y) const {
    y = Vec::Lesser(Vec::Greater(y, lowest), highest);
    y = Vec::Add(y, Vec::WithBits(half, y, sign));
    return Vec::AddInts(Vec::Truncate(y), zero_point);
  }
};

// ---- Values to bits ----
//
// A condition(v, c) is the mask of the values from c on, and is true or false if v is OneLane.

template <typename Vec>
inline constexpr size_t kBlockBits = 8 * sizeof(typename Vec::Word);

template <typename Vec, typename Condition>
inline typename Vec::Word PackBlock(const Condition& condition, size_t c) {
  constexpr size_t kLanes = Vec::kLanes;
  const Vec v;
  if constexpr (kLanes == kBlockBits<Vec>) {
    return v.Bits(condition(v, c));
  } else {
    return v.Bits(condition(v, c), condition(v, c + kLanes), condition(v, c + 2 * kLanes),
                  condition(v, c + 3 * kLanes));
  }
}

// Packs less than a block.
template <typename Vec, typename Condition>
inline typename Vec::Word PackSome(size_t count, const Condition& condition) {
  using Word = typename Vec::Word;
  Word bits = 0;
  size_t c = 0;
  for (; c + Vec::kLanes <= count; c += Vec::kLanes) {
    bits |= Word{Vec::Bits(condition(Vec(), c))} << c;
  }
  Vec::ForRest(count - c,
               [&](auto v, size_t i) { bits |= Word{v.Bits(condition(v, c + i))} << (c + i); });
  return bits;
}

template <typename Word>
inline void StoreBits(uint32_t* out, Word bits, size_t count) {
  std::memcpy(out, &bits, count > kWordBits ? sizeof(bits) : sizeof(*out));
}

// Packs one row. The values after the last whole block are the upper bits of a block that ends with
// the row.
template <typename Vec, typename Condition>
inline void PackVectors(size_t count, const Condition& condition, uint32_t* out) {
  constexpr size_t kBits = kBlockBits<Vec>;
  size_t c = 0;
  for (; c + kBits <= count; c += kBits, out += kBits / kWordBits) {
    StoreBits(out, PackBlock<Vec>(condition, c), kBits);
  }
  const size_t left = count - c;
  if (left == 0) return;
  StoreBits(out,
            c > 0 ? PackBlock<Vec>(condition, count - kBits) >> (kBits - left)
                  : PackSome<Vec>(left, condition),
            left);
}

// Packs rows that lie one after the other.
template <typename Vec, typename Condition>
inline void PackRowsOfVectors(size_t rows, size_t channels, const Condition& condition,
                              uint32_t* out) {
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    PackVectors<Vec>(
        count, [&](auto v, size_t c) { return condition(v, first + c); }, to);
  };
  PackRows(rows, channels, pack, Vec::DealRows, out);
}

template <typename Vec>
void BitpackFloat(const float* in, size_t rows, size_t channels, uint32_t* out) {
  const auto is_negative = [in](auto v, size_t at) {  // as IsNegative
    return v.LessInts(v.SubtractInts(v.LoadInts(in + at), v.SetInts(1)),
                      v.SetInts(kMinusInfinityBits));
  };
  PackRowsOfVectors<Vec>(rows, channels, is_negative, out);
}

template <typename Vec>
void BitpackFloatLimits(const float* in, const float* limits, const uint32_t* signs, size_t rows,
                        size_t channels, uint32_t* out, size_t out_stride) {
  constexpr size_t kBits = kBlockBits<Vec>;
  if (channels % kBits == 0) {
    // The limits and signs of a block stay in registers from row to row.
    for (size_t c = 0; c < channels && rows > 0; c += kBits) {
      typename Vec::Floats limit[4];
      typename Vec::Ints sign[4];
#pragma GCC unroll 4
      for (size_t k = 0; k < 4; ++k) {
        limit[k] = Vec::Load(limits + c + k * Vec::kLanes);
        sign[k] = Vec::LoadInts(signs + c + k * Vec::kLanes);
      }
      const float* x = in + c;
      uint32_t* to = out + c / kWordBits;
      for (size_t i = 0; i < rows; ++i, x += channels, to += out_stride) {
        const auto is_below = [&](auto v, size_t at) {
          const size_t k = at / Vec::kLanes;
          return v.Less(v.Xor(v.Load(x + at), sign[k]), limit[k]);
        };
        StoreBits(to, PackBlock<Vec>(is_below, 0), kBits);
      }
    }
    return;
  }
  const auto pack = [](const float* x, const float* limit, const uint32_t* sign, size_t count,
                       uint32_t* to) {
    const auto is_below = [&](auto v, size_t c) {
      return v.Less(v.Xor(v.Load(x + c), v.LoadInts(sign + c)), v.Load(limit + c));
    };
    PackVectors<Vec>(count, is_below, to);
  };
  PackLimitRows(in, limits, signs, rows, channels, pack, Vec::DealRows, out, out_stride);
}

template <typename Bytes>
void BitpackInt8(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                 uint32_t* out) {
  // Above 127 all values are smaller than the zero point, and no int8 can express it as a limit.
  if (zero_point > INT8_MAX) return BitpackInt8Rows(in, rows, channels, zero_point, out);
  const int8_t limit = static_cast<int8_t>(zero_point < INT8_MIN ? INT8_MIN : zero_point);
  const auto is_below = [=](auto v, size_t at) { return v.Less(v.Load(in + at), v.Set(limit)); };
  PackRowsOfVectors<Bytes>(rows, channels, is_below, out);
}

template <typename Bytes>
void BitpackBool(const uint8_t* in, size_t rows, size_t channels, uint32_t* out) {
  PackRowsOfVectors<Bytes>(
      rows, channels, [in](auto v, size_t at) { return v.IsZero(v.Load(in + at)); }, out);
}

// ---- Accumulators to bits ----

// dot < limit, that is depth - 2 acc < limit, holds exactly if acc > floor((depth - limit) / 2).
// The difference may need 33 bits, but its half never does, because depth is not negative.
template <typename Vec>
inline typename Vec::Ints AccLimit(typename Vec::Ints depth, typename Vec::Ints limit) {
  const auto half = Vec::SubtractInts(Vec::Half(depth), Vec::Half(limit));
  const auto borrow = Vec::AndNot(depth, limit);  // the lowest bit: 0 - 1
  return Vec::SubtractInts(half, Vec::And(borrow, Vec::SetInts(1)));
}

template <typename Vec>
void ToBits(const TransformArgs& given) {
  const TransformArgs args = given;
  constexpr size_t kBits = kBlockBits<Vec>;
  size_t c = 0;
  for (; c + kBits <= args.channels; c += kBits) {
    // Neighbouring pixels mostly have the same depth, and then the same limits.
    typename Vec::Ints limit[4] = {};
    int32_t depth = -1;
    const int32_t* acc = args.acc + c;
    for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
      if (args.depth[i] != depth) {
        depth = args.depth[i];
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; ++k) {
          const auto dot_limit = Vec::LoadInts(args.dot_limit + c + k * Vec::kLanes);
          limit[k] = AccLimit<Vec>(Vec::SetInts(depth), dot_limit);
        }
      }
      const auto is_set = [&](auto v, size_t at) {
        return v.LessInts(limit[at / Vec::kLanes], v.LoadInts(acc + at));
      };
      StoreBits(OutRow<uint32_t>(args, i) + c / kWordBits, PackBlock<Vec>(is_set, 0), kBits);
    }
  }
  if (c == args.channels) return;
  const size_t left = args.channels - c;
  const int32_t* acc = args.acc + c;
  for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
    const auto is_set = [&](auto v, size_t at) {
      const auto dot = v.SubtractInts(v.SetInts(args.depth[i]), v.Twice(v.LoadInts(acc + at)));
      return v.LessInts(dot, v.LoadInts(args.dot_limit + c + at));
    };
    StoreBits(OutRow<uint32_t>(args, i) + c / kWordBits, PackSome<Vec>(left, is_set), left);
  }
}

// The members of PixelOps that the loops above compute, and those of pixel_ops_vectors.h.
template <typename Vec, typename Bytes>
constexpr PixelOps WithMasks() {
  PixelOps ops = WithVectors<Vec>();
  ops.to_float = ToFloat<Vec>;
  ops.to_bits = ToBits<Vec>;
  ops.bitpack_float = BitpackFloat<Vec>;
  ops.bitpack_float_limits = BitpackFloatLimits<Vec>;
  ops.bitpack_int8 = BitpackInt8<Bytes>;
  ops.bitpack_bool = BitpackBool<Bytes>;
  return ops;
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_MASKS_H_
