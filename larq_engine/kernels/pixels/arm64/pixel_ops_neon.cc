// PixelOps with NEON. The rest of a row after the last whole vectors takes the loops' code, since
// NEON cannot mask lanes.
#include "larq_engine/kernels/pixels/arm64/pixel_ops_neon.h"

#include <arm_neon.h>

#include "larq_engine/kernels/pixels/pixel_ops_vectors.h"

namespace larq_engine {
namespace {

struct Vec4 {
  using Floats = float32x4_t;
  using Ints = int32x4_t;
  static constexpr size_t kLanes = 4;
  static constexpr size_t kBlock = 8;
  static constexpr bool kClampsAreCheap = false;
  static constexpr bool kHoldsChannels = false;
  static constexpr bool kMasksLanes = false;
  static Floats Set(float value) { return vdupq_n_f32(value); }
  static Floats Load(const float* from) { return vld1q_f32(from); }
  static Ints LoadInts(const void* from) { return vld1q_s32(static_cast<const int32_t*>(from)); }
  static void Store(float* to, Floats x) { vst1q_f32(to, x); }
  static void StoreInts(void* to, Ints x) { vst1q_s32(static_cast<int32_t*>(to), x); }
  static Floats Add(Floats a, Floats b) { return vaddq_f32(a, b); }
  static Floats Multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  static Floats Divide(Floats a, Floats b) { return vdivq_f32(a, b); }
  // FMAX would prefer NaN and +0.0, and FMAXNM would prefer numbers.
  static Floats Greater(Floats a, Floats b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
  static Floats Lesser(Floats a, Floats b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
  static Floats Prelu(Floats x, Floats slope) {
    return vbslq_f32(vcltzq_f32(x), vmulq_f32(x, slope), x);
  }
  static Ints AddInts(Ints a, Ints b) { return vaddq_s32(a, b); }
  static Ints ShiftUp(Ints x, int bits) { return vshlq_s32(x, vdupq_n_s32(bits)); }
  static Ints And(Ints a, Ints b) { return vandq_s32(a, b); }
  // Returns the pointer in one register. gcc 12 would address a tap's vectors by two registers,
  // which cannot load pairs.
  template <typename T>
  static const T* InOneRegister(const T* tap) {
    asm("" : "+r"(tap));
    return tap;
  }
  template <typename Body>
  static void ForRest(size_t count, const Body& body) {
    ForSingleLanes(count, body);
  }
};

constexpr size_t kLanes = Vec4::kLanes;
constexpr size_t kBlockVectors = Vec4::kBlock;
constexpr size_t kBlock = kBlockVectors * kLanes;  // 32 values, a word of bits

// For max_bits: a pixel of 64 channels is two words.
struct TwoWords {
  static constexpr size_t kLanes = 2;
  static int32x2_t LoadInts(const void* from) {
    return vld1_s32(static_cast<const int32_t*>(from));
  }
  static void StoreInts(void* to, int32x2_t x) { vst1_s32(static_cast<int32_t*>(to), x); }
  static int32x2_t And(int32x2_t a, int32x2_t b) { return vand_s32(a, b); }
};
struct VecOfWords : Vec4 {
  template <typename Body>
  static void ForRest(size_t count, const Body& body) {
    size_t at = 0;
    for (; at + 2 <= count; at += 2) body(TwoWords(), at);
    if (at < count) body(OneLane(), at);
  }
};

// ---- Accumulators to numbers ----

constexpr int32_t kExactInFloats = 1 << 24;

// Tells whether floats hold every dot product, and the ends of the range that it is clamped to.
// Ends beyond every dot product need not be exact.
inline bool FloatsHoldDots(const TransformArgs& args) {
  uint32_t bits = 0;
  for (size_t i = 0; i < args.rows; ++i) bits |= static_cast<uint32_t>(args.depth[i]);
  return bits < kExactInFloats && args.dot_min <= kExactInFloats && args.dot_max >= -kExactInFloats;
}

// Gives each row to out.Store: y = clamp(dot) * multiplier + bias of 4 kVectors channels, whose
// multipliers and biases stay in registers from row to row. Floats compute half the dot product,
// depth / 2 - acc, without rounding: a conversion and a subtraction, where integers need a shift
// and a subtraction before the conversion. Twice the multiplier makes up for the half; if that
// overflows, the loops compute the block.
template <bool kMin, bool kMax, int kVectors, typename Out>
inline void AffineBlock(const TransformArgs& args, const Out& out) {
  float32x4_t twice[kVectors], bias[kVectors];
  float32x4_t zero = vdupq_n_f32(0);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const float32x4_t multiplier = vld1q_f32(args.multiplier + 4 * v);
    twice[v] = vaddq_f32(multiplier, multiplier);
    bias[v] = vld1q_f32(args.bias + 4 * v);
    zero = vfmaq_f32(zero, twice[v], vdupq_n_f32(0));  // NaN if twice[v] is not finite
  }
  if (vmaxvq_u32(vreinterpretq_u32_f32(zero)) != 0) return Out::Loops(args);
  const float32x4_t least = vcvtq_n_f32_s32(vdupq_n_s32(args.dot_min), 1);
  const float32x4_t most = vcvtq_n_f32_s32(vdupq_n_s32(args.dot_max), 1);
  const int32_t* acc = args.acc;
  const int32_t* depth = args.depth;
  auto* to = static_cast<typename Out::Value*>(args.out);
  for (size_t i = 0; i < args.rows; ++i) {
    const float32x4_t half_depth = vcvtq_n_f32_s32(vld1q_dup_s32(depth++), 1);
    float32x4_t y[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      float32x4_t half_dot = vsubq_f32(half_depth, vcvtq_f32_s32(vld1q_s32(acc + 4 * v)));
      if (kMin) half_dot = vmaxq_f32(half_dot, least);
      if (kMax) half_dot = vminq_f32(half_dot, most);
      y[v] = vaddq_f32(vmulq_f32(half_dot, twice[v]), bias[v]);
    }
    out.Store(args.sum, y, to);
    acc += args.acc_stride;
    to = reinterpret_cast<typename Out::Value*>(reinterpret_cast<unsigned char*>(to) +
                                                args.out_stride);
  }
}

// Computes blocks of 32 channels, then of 16. The last block may begin in the one before, because
// outputs that are not inputs may be computed twice.
template <bool kMin, bool kMax, typename Out>
inline void AffineBlocks(const TransformArgs& args, const Out& out) {
  constexpr size_t kHalfBlock = kBlock / 2;
  constexpr size_t kBytes = sizeof(typename Out::Value);
  if (args.channels < kHalfBlock) return Out::Loops(args);
  size_t c = 0;
  for (; c + kBlock <= args.channels; c += kBlock) {
    AffineBlock<kMin, kMax, kBlockVectors>(ChannelsOf(args, c, kBlock, c * kBytes), out);
  }
  for (; c < args.channels; c += kHalfBlock) {
    if (c + kHalfBlock > args.channels) {
      if (Out::kAdds) return Out::Loops(ChannelsOf(args, c, args.channels - c, c * kBytes));
      c = args.channels - kHalfBlock;
    }
    AffineBlock<kMin, kMax, kBlockVectors / 2>(ChannelsOf(args, c, kHalfBlock, c * kBytes), out);
  }
}

template <typename Out>
inline void AffineRows(const TransformArgs& args, const Out& out) {
  if (!FloatsHoldDots(args)) return Out::Loops(args);
  if (args.dot_max != INT32_MAX) {
    AffineBlocks<true, true>(args, out);
  } else if (args.dot_min != INT32_MIN) {  // a ReLU
    AffineBlocks<true, false>(args, out);
  } else {
    AffineBlocks<false, false>(args, out);
  }
}

struct FloatOut {
  using Value = float;
  static constexpr bool kAdds = false;
  static void Loops(const TransformArgs& args) { ToFloat(args); }
  template <int kVectors>
  void Store(const ResidualSum&, const float32x4_t (&y)[kVectors], float* to) const {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) vst1q_f32(to + 4 * v, y[v]);
  }
};

// Adds the addend, which lies as the outputs do, at this distance from them in bytes.
template <Sum kSum>
struct FloatSumOut {
  using Value = float;
  static constexpr bool kAdds = true;
  uintptr_t distance;
  explicit FloatSumOut(const TransformArgs& args)
      : distance(reinterpret_cast<uintptr_t>(args.sum.addend) -
                 reinterpret_cast<uintptr_t>(args.out)) {}
  static void Loops(const TransformArgs& args) { ToFloat(args); }
  template <int kVectors>
  void Store(const ResidualSum& sum, const float32x4_t (&y)[kVectors], float* to) const {
    const auto* addend = reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(to) + distance);
    const ClampTo<true, true> clamp{sum.range};
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      float32x4_t x = y[v];
      if (IsGated(kSum)) {
        x = vmulq_f32(x, vld1q_f32(sum.gate + 4 * v));
        x = Vec4::Prelu(x, vld1q_f32(sum.slopes + 4 * v));
      }
      x = vaddq_f32(x, vld1q_f32(addend + 4 * v));
      vst1q_f32(to + 4 * v, IsClamped(kSum) ? clamp(Vec4(), x) : x);
    }
  }
};

void ToFloatNeon(const TransformArgs& given) {
  const TransformArgs args = given;  // a copy, which writing the output cannot change
  switch (FormOf(args.sum)) {
    case Sum::kNone:
      return AffineRows(args, FloatOut{});
    case Sum::kPlain:
      return AffineRows(args, FloatSumOut<Sum::kPlain>(args));
    case Sum::kClamped:
      return AffineRows(args, FloatSumOut<Sum::kClamped>(args));
    case Sum::kGated:
      return AffineRows(args, FloatSumOut<Sum::kGated>(args));
    case Sum::kGatedAndClamped:
      return AffineRows(args, FloatSumOut<Sum::kGatedAndClamped>(args));
  }
}

// FCVTAS rounds halves away from zero and saturates, as the narrowing does. It would make 0 of NaN,
// so FMAXNM turns NaN into the lower end first.
struct Int8Out {
  using Value = int8_t;
  static constexpr bool kAdds = false;
  float32x4_t lowest;
  int16x8_t zero_point;
  explicit Int8Out(int32_t zero)
      : lowest(vdupq_n_f32(Int8Ends(zero).lowest)),
        zero_point(vdupq_n_s16(static_cast<int16_t>(zero))) {}
  static void Loops(const TransformArgs& args) { ToInt8(args); }
  int16x8_t Eight(float32x4_t low, float32x4_t high) const {
    const int16x4_t first = vqmovn_s32(vcvtaq_s32_f32(vmaxnmq_f32(low, lowest)));
    const int32x4_t second = vcvtaq_s32_f32(vmaxnmq_f32(high, lowest));
    return vqaddq_s16(vqmovn_high_s32(first, second), zero_point);
  }
  template <int kVectors>
  void Store(const ResidualSum&, const float32x4_t (&y)[kVectors], int8_t* to) const {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; v += 4) {
      const int8x8_t first = vqmovn_s16(Eight(y[v], y[v + 1]));
      vst1q_s8(to + 4 * v, vqmovn_high_s16(first, Eight(y[v + 2], y[v + 3])));
    }
  }
};

void ToInt8Neon(const TransformArgs& given) {
  const TransformArgs args = given;
  const bool is_int8 = args.zero_point == static_cast<int8_t>(args.zero_point);
  if (!is_int8) return ToInt8(args);
  AffineRows(args, Int8Out(args.zero_point));
}

// ---- Narrow rows ----

// DealRows of pixel_ops_rows.h. Eight rows take as many whole bytes as a row has channels. They are
// in two halves of 16 bytes, the second of which begins with the byte that has row 4's first bit.
// Each lane of 64 bits takes the bytes of its row and shifts its bits down.
void DealRowsNeon(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
  size_t i = 0;
  if (channels < kWordBits) {
    const size_t second_half = channels / 2;
    uint8_t bytes[8][8];
    int64_t shifts[8];
    for (size_t row = 0; row < 8; ++row) {
      const size_t bit = row * channels - row / 4 * second_half * 8;
      shifts[row] = -static_cast<int64_t>(bit % 8);
      const uint64_t first_byte = bit / 8 * 0x0101010101010101;
      vst1_u8(bytes[row], vadd_u8(vcreate_u8(first_byte), vcreate_u8(0x0706050403020100)));
    }
    uint8x16_t take[4];
    int64x2_t shift[4];
#pragma GCC unroll 4
    for (size_t pair = 0; pair < 4; ++pair) {
      take[pair] = vld1q_u8(bytes[2 * pair]);
      shift[pair] = vld1q_s64(shifts + 2 * pair);
    }
    const uint32x4_t mask = vdupq_n_u32(TailMask(channels));
    for (; i + 8 <= rows; i += 8, stream += channels) {
#pragma GCC unroll 2
      for (size_t half = 0; half < 2; ++half) {
        const uint8x16_t bits = vld1q_u8(stream + half * second_half);
        const auto two = [&](size_t pair) {
          const uint64x2_t taken = vreinterpretq_u64_u8(vqtbl1q_u8(bits, take[pair]));
          return vreinterpretq_u32_u64(vshlq_u64(taken, shift[pair]));
        };
        vst1q_u32(out + i + 4 * half,
                  vandq_u32(vuzp1q_u32(two(2 * half), two(2 * half + 1)), mask));
      }
    }
  }
  DealRows(stream, rows - i, channels, out + i);
}

// ---- Values to bits ----
//
// The code makes four words at a time, of up to four rows. A vector v[w][r] has the conditions of
// channels [4 r, 4 r + 4) of word w. Narrowing twice packs the vectors of the four words, and not
// neighbouring vectors, into one vector of bytes, so that each byte of it belongs to one word:
//
//   bits[r]   | w0: 4r 4r+1 4r+2 4r+3 | w1: 4r .. | w2: 4r .. | w3: 4r .. |     one byte a channel
//
// Only the top bit of a byte counts, so a difference need not be turned into a mask. Seven
// instructions shift the eight vectors into one, and six put the bits of each word in order: 13 for
// 128 values. Bytes that were packed in order would take 23: eight to turn them into masks, eight
// to reduce each mask to the bit of its lane, and seven to add neighbours.

// Returns a constant that stays in a register throughout a loop: gcc 12 makes constants that it can
// see again in each iteration.
inline uint8x16_t InRegister(uint32_t bytes) {
  uint8x16_t vector = vreinterpretq_u8_u32(vdupq_n_u32(bytes));
  asm("" : "+w"(vector));
  return vector;
}

class BitJoiner {
 public:
  uint32x4_t operator()(const uint8x16_t (&bits)[8]) const {
    uint8x16_t pair[4];  // pairs channels 8 apart, then 16, then 4
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      pair[i] = vsriq_n_u8(bits[2 + i], bits[i], 1);
      pair[2 + i] = vsriq_n_u8(bits[6 + i], bits[4 + i], 1);
    }
    const uint8x16_t low = vsriq_n_u8(pair[2], pair[0], 2);
    const uint8x16_t high = vsriq_n_u8(pair[3], pair[1], 2);
    // Byte l of a word now has the bits of channels l, 8 + l, 16 + l, 24 + l, lowest first, and
    // then of the same plus 4. Bytes and bits trade places as in the transposition of a matrix, by
    // halves.
    uint8x16_t x = vsriq_n_u8(high, low, 4);
    x = vbslq_u8(odd_, Shift(vrev16q_u8(x), by_one_), x);
    const uint8x16_t other = vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(x)));
    return vreinterpretq_u32_u8(vbslq_u8(upper_, Shift(other, by_two_), x));
  }

 private:
  static uint8x16_t Shift(uint8x16_t x, uint8x16_t left) {
    return vshlq_u8(x, vreinterpretq_s8_u8(left));
  }
  const uint8x16_t by_one_ = InRegister(0xff01ff01);  // 1 and -1
  const uint8x16_t odd_ = InRegister(0x55aa55aa);
  const uint8x16_t by_two_ = InRegister(0xfefe0202);  // 2, 2, -2, -2
  const uint8x16_t upper_ = InRegister(0x3333cccc);
};

// Stores the words of each row.
template <size_t kRows>
inline void StoreRows(uint32x4_t words, uint32_t* const (&out)[kRows]) {
  if constexpr (kRows == 2) {
    vst1_u32(out[0], vget_low_u32(words));
    vst1_u32(out[1], vget_high_u32(words));
  } else {
    vst1q_lane_u32(out[0], words, 0);
    vst1q_lane_u32(out[1], words, 1);
    vst1q_lane_u32(out[2], words, 2);
    vst1q_lane_u32(out[3], words, 3);
  }
}

// Stores words(rows' inputs) for groups of kRows rows. The last group may contain its last row more
// than once.
template <size_t kRows, typename T, typename Words>
inline void ForRowGroups(size_t rows, const T* in, size_t in_stride, unsigned char* out,
                         size_t out_stride, const Words& words) {
  const auto group = [&](size_t count) {
    const T* from[kRows];
    uint32_t* to[kRows];
#pragma GCC unroll 4
    for (size_t k = 0; k < kRows; ++k) {
      from[k] = in;
      to[k] = reinterpret_cast<uint32_t*>(out);
      if (k + 1 < count) {
        in += in_stride;
        out += out_stride;
      }
    }
    StoreRows(words(from), to);
    in += in_stride;
    out += out_stride;
  };
  for (; rows >= kRows; rows -= kRows) group(kRows);
  if (rows > 0) group(rows);
}

// Makes the eight vectors to join: bytes(r, x) makes each of them from the vectors x of the four
// words. gcc 12 would load all words before the first instruction that uses one, and run out of
// registers. So it may not move anything past each second vector; two neighbours load as a pair.
template <typename T, typename Bytes>
inline void ForFourWords(const T* const (&words)[4], uint8x16_t (&bits)[8], const Bytes& bytes) {
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) {
    int32x4_t x[4];
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) {
      x[w] = vreinterpretq_s32_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(words[w] + 4 * r)));
    }
    bits[r] = bytes(r, x);
    if (r % 2 == 1) asm volatile("" : : "w"(bits[r - 1]), "w"(bits[r]));
  }
}

// Returns the low halves of two vectors: of accumulators that fit them, or of masks.
inline int16x8_t LowHalves(int32x4_t a, int32x4_t b) {
  return vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
}

// dot < limit, that is depth - 2 acc < limit, holds exactly if acc > floor((depth - limit) / 2).
// This bound takes one instruction: halving subtraction has the 33rd bit. Accumulators up to 32767
// are compared as int16, so the bound may be clamped to [-1, 32767].
inline int16x8_t AccLimit(int32x4_t depth, const int32_t* first, const int32_t* second) {
  const int16x4_t low = vqmovn_s32(vhsubq_s32(depth, vld1q_s32(first)));
  const int16x8_t both = vqmovn_high_s32(low, vhsubq_s32(depth, vld1q_s32(second)));
  return vmaxq_s16(both, vdupq_n_s16(-1));
}

// Makes the bits of two rows of 64 channels or four rows of 32. Comparing takes no instruction of
// its own: the second narrowing, of limit - acc, which cannot overflow, keeps its top bit.
template <size_t kRows>
inline void ToBitsBlock(const TransformArgs& args, bool one_depth) {
  constexpr size_t kRowWords = 4 / kRows;
  const BitJoiner join;
  // Neighbouring pixels mostly have the same depth, and then the same limits.
  for (size_t i = 0; i < args.rows;) {
    const int32_t depth = args.depth[i];
    size_t end = one_depth ? args.rows : i + 1;
    while (end < args.rows && args.depth[end] == depth) ++end;
    int16x8_t limit[8];
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) {
      const int32_t* first = args.dot_limit + 4 * r;
      limit[r] = AccLimit(vdupq_n_s32(depth), first, first + kWordBits * (kRowWords - 1));
    }
    const auto above = [&](const int32_t* const(&row)[kRows]) {
      const int32_t* words[4];
#pragma GCC unroll 4
      for (size_t w = 0; w < 4; ++w) {
        words[w] = row[w / kRowWords] + w % kRowWords * kWordBits;
      }
      uint8x16_t bits[8];
      ForFourWords(words, bits, [&](int r, const int32x4_t(&acc)[4]) {
        const int8x8_t first = vsubhn_s16(limit[r], LowHalves(acc[0], acc[1]));
        return vreinterpretq_u8_s8(vsubhn_high_s16(first, limit[r], LowHalves(acc[2], acc[3])));
      });
      return join(bits);
    };
    ForRowGroups<kRows>(end - i, args.acc + i * args.acc_stride, args.acc_stride,
                        OutRow<unsigned char>(args, i), args.out_stride, above);
    i = end;
  }
}

// Returns the bits of lanes that lie `at` channels from the first of a word.
inline uint32x4_t LaneBits(uint32x4_t is_set, size_t at) {
  const uint32_t lane_bits[kLanes] = {1, 2, 4, 8};
  const uint32x4_t bits = vshlq_u32(vld1q_u32(lane_bits), vdupq_n_s32(static_cast<int32_t>(at)));
  return vandq_u32(is_set, bits);
}

// Makes the bits of less than a word of channels.
inline void ToBitsTail(const TransformArgs& args) {
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    uint32x4_t vector = vdupq_n_u32(0);
    size_t c = 0;
    for (; c + kLanes <= args.channels; c += kLanes) {
      const int32x4_t a = vld1q_s32(acc + c);
      const int32x4_t dot = vsubq_s32(vdupq_n_s32(depth), vaddq_s32(a, a));
      vector = vorrq_u32(vector, LaneBits(vcltq_s32(dot, vld1q_s32(args.dot_limit + c)), c));
    }
    uint32_t word = vaddvq_u32(vector);
    for (; c < args.channels; ++c) {
      word |= static_cast<uint32_t>(Dot(depth, acc[c]) < args.dot_limit[c]) << c;
    }
    *OutRow<uint32_t>(args, i) = word;
  }
}

void ToBitsNeon(const TransformArgs& given) {
  const TransformArgs args = given;
  constexpr uint32_t kMaxDepth = INT16_MAX;
  uint32_t in_any = 0, in_all = ~0u;  // bits of the depths
  for (size_t i = 0; i < args.rows; ++i) {
    in_any |= static_cast<uint32_t>(args.depth[i]);
    in_all &= static_cast<uint32_t>(args.depth[i]);
  }
  if (in_any > kMaxDepth) return ToBits(args);
  const bool one_depth = in_any == in_all;
  const auto part = [&args](size_t first, size_t count) {
    return ChannelsOf(args, first, count, first / kWordBits * sizeof(uint32_t));
  };
  size_t c = 0;
  for (; c + 2 * kWordBits <= args.channels; c += 2 * kWordBits) {
    ToBitsBlock<2>(part(c, 2 * kWordBits), one_depth);
  }
  if (c + kWordBits <= args.channels) {
    ToBitsBlock<4>(part(c, kWordBits), one_depth);
    c += kWordBits;
  }
  if (c < args.channels) ToBitsTail(part(c, args.channels - c));
}

// Compares x < 0 in integers, as pixel_ops_loops.h does. The upper halves of bits - 1 decide: those
// of negative values are 0x8000 to 0xff7f, since minus infinity, 0xff800000, is the last of them.
inline uint32x4_t AreNegative(const float* const (&in)[4], const BitJoiner& join) {
  const int32x4_t one = vdupq_n_s32(1);
  const int16x8_t limit = vdupq_n_s16(static_cast<int16_t>(kMinusInfinityBits >> 16));
  uint8x16_t bits[8];
  ForFourWords(in, bits, [&](int, const int32x4_t(&x)[4]) {
    const int16x8_t first = vsubhn_high_s32(vsubhn_s32(x[0], one), x[1], one);
    const int16x8_t second = vsubhn_high_s32(vsubhn_s32(x[2], one), x[3], one);
    return vuzp1q_u8(vreinterpretq_u8_u16(vcltq_s16(first, limit)),
                     vreinterpretq_u8_u16(vcltq_s16(second, limit)));
  });
  return join(bits);
}

void BitpackFloatNeon(const float* in, size_t rows, size_t channels, uint32_t* out) {
  const BitJoiner join;
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    const float* from = in + first;
    size_t left = count;
    for (; left >= 4 * kWordBits; left -= 4 * kWordBits, from += 4 * kWordBits, to += 4) {
      const float* const words[4] = {from, from + kWordBits, from + 2 * kWordBits,
                                     from + 3 * kWordBits};
      vst1q_u32(to, AreNegative(words, join));
    }
    for (; left >= kWordBits; left -= kWordBits, from += kWordBits, ++to) {
      const float* const word[4] = {from, from, from, from};
      vst1q_lane_u32(to, AreNegative(word, join), 0);
    }
    if (left > 0) BitpackFloatRows(from, 1, left, to);
  };
  PackRows(rows, channels, pack, DealRowsNeon, out);
}

// Packs four rows of 32 channels at a time, whose limits and signs stay in registers from row to
// row.
inline void BitpackLimitRows(const float* in, const float* limits, const uint32_t* signs,
                             size_t rows, size_t channels, uint32_t* out, size_t out_stride) {
  const BitJoiner join;
  for (size_t c = 0; c < channels; c += kWordBits) {
    float32x4_t limit[8];
    int32x4_t sign[8];
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) {
      limit[r] = vld1q_f32(limits + c + 4 * r);
      sign[r] = vreinterpretq_s32_u32(vld1q_u32(signs + c + 4 * r));
    }
    const auto below = [&](const float* const(&row)[4]) {
      uint8x16_t bits[8];
      ForFourWords(row, bits, [&](int r, const int32x4_t(&x)[4]) {
        const auto mask = [&](int w) {
          const float32x4_t turned = vreinterpretq_f32_s32(veorq_s32(x[w], sign[r]));
          return vreinterpretq_s32_u32(vcltq_f32(turned, limit[r]));
        };
        return vuzp1q_u8(vreinterpretq_u8_s16(LowHalves(mask(0), mask(1))),
                         vreinterpretq_u8_s16(LowHalves(mask(2), mask(3))));
      });
      return join(bits);
    };
    ForRowGroups<4>(rows, in + c, channels, reinterpret_cast<unsigned char*>(out + c / kWordBits),
                    out_stride * sizeof(uint32_t), below);
  }
}

// Packs a word of neighbouring values.
inline uint32_t WordBelow(const float* in, const float* limits, const uint32_t* signs) {
  uint32x4_t word = vdupq_n_u32(0);
#pragma GCC unroll 8
  for (size_t c = 0; c < kWordBits; c += kLanes) {
    const uint32x4_t turned =
        veorq_u32(vreinterpretq_u32_f32(vld1q_f32(in + c)), vld1q_u32(signs + c));
    const uint32x4_t below = vcltq_f32(vreinterpretq_f32_u32(turned), vld1q_f32(limits + c));
    word = vorrq_u32(word, LaneBits(below, c));
  }
  return vaddvq_u32(word);
}

void BitpackFloatLimitsNeon(const float* in, const float* limits, const uint32_t* signs,
                            size_t rows, size_t channels, uint32_t* out, size_t out_stride) {
  if (channels % kWordBits == 0) {
    return BitpackLimitRows(in, limits, signs, rows, channels, out, out_stride);
  }
  const auto pack = [](const float* x, const float* limit, const uint32_t* sign, size_t count,
                       uint32_t* to) {
    PackRow(
        count, [&](size_t c) { return WordBelow(x + c, limit + c, sign + c); },
        [&](size_t c) { return IsBelow(x[c], limit[c], sign[c]); }, to);
  };
  PackLimitRows(in, limits, signs, rows, channels, pack, DealRowsNeon, out, out_stride);
}

// Packs bytes, which come in order. Comparing them makes masks; each mask is reduced to the bit of
// its lane, and neighbours are added. mask(at) is the mask of the 16 bytes at `at`, and loops(at)
// computes the rest of a row.
template <typename Mask, typename Loops>
inline void BitpackBytes(size_t channels, const Mask& mask, const Loops& loops, uint32_t* out) {
  const uint8x16_t bit_of_lane = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  // Returns the bits of 32 bytes, as four partial sums for each byte of the result.
  const auto pair = [&](size_t at) {
    return vpaddq_u8(vandq_u8(mask(at), bit_of_lane), vandq_u8(mask(at + 16), bit_of_lane));
  };
  size_t c = 0;
  for (; c + 4 * kWordBits <= channels; c += 4 * kWordBits, out += 4) {
    const uint8x16_t first = vpaddq_u8(pair(c), pair(c + kWordBits));
    const uint8x16_t second = vpaddq_u8(pair(c + 2 * kWordBits), pair(c + 3 * kWordBits));
    vst1q_u32(out, vreinterpretq_u32_u8(vpaddq_u8(first, second)));
  }
  for (; c + kWordBits <= channels; c += kWordBits, ++out) {
    uint8x16_t word = pair(c);
    word = vpaddq_u8(word, word);
    vst1q_lane_u32(out, vreinterpretq_u32_u8(vpaddq_u8(word, word)), 0);
  }
  if (c < channels) loops(c, out);
}

void BitpackInt8Neon(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                     uint32_t* out) {
  // Above 127 all values are smaller than the zero point, and no int8 can express it as a limit.
  if (zero_point > INT8_MAX) return BitpackInt8Rows(in, rows, channels, zero_point, out);
  const int8x16_t limit =
      vdupq_n_s8(static_cast<int8_t>(zero_point < INT8_MIN ? INT8_MIN : zero_point));
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    BitpackBytes(
        count, [&](size_t at) { return vcltq_s8(vld1q_s8(in + first + at), limit); },
        [&](size_t at, uint32_t* last) {
          BitpackInt8Rows(in + first + at, 1, count - at, zero_point, last);
        },
        to);
  };
  PackRows(rows, channels, pack, DealRowsNeon, out);
}

void BitpackBoolNeon(const uint8_t* in, size_t rows, size_t channels, uint32_t* out) {
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    BitpackBytes(
        count, [&](size_t at) { return vceqzq_u8(vld1q_u8(in + first + at)); },
        [&](size_t at, uint32_t* last) { BitpackBoolRows(in + first + at, 1, count - at, last); },
        to);
  };
  PackRows(rows, channels, pack, DealRowsNeon, out);
}

// ---- Bits to values ----

// Unpacks the first kVectors of a word's floats: each lane shifts its bit to the top, where it
// becomes the sign of 1.0.
template <size_t kVectors>
inline void UnpackWord(const uint32_t* in, const int32x4_t (&to_sign)[8], float* out) {
  const uint32x4_t twice_one = vdupq_n_u32(0x3f800000u << 1);
  const uint32x4_t word = vld1q_dup_u32(in);
#pragma GCC unroll 8
  for (size_t v = 0; v < kVectors; ++v) {
    const uint32x4_t sign_and_one = vsriq_n_u32(vshlq_u32(word, to_sign[v]), twice_one, 1);
    vst1q_f32(out + kLanes * v, vreinterpretq_f32_u32(sign_and_one));
  }
}

// Unpacks rows. The last word has kVectors vectors, the last two of which may run into the rows
// after it.
template <size_t kVectors>
inline void UnpackFloats(const uint32_t* in, size_t rows, size_t channels, float* out) {
  const int32_t lanes[kLanes] = {31, 30, 29, 28};
  int32x4_t to_sign[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) to_sign[r] = vsubq_s32(vld1q_s32(lanes), vdupq_n_s32(4 * r));
  const size_t whole = (channels - 1) / kWordBits;
  const size_t rows_before =
      RowsBefore(whole * kWordBits + kVectors * kLanes - channels, rows, channels);
  for (size_t i = 0; i < rows_before; ++i, out += channels) {
    for (size_t w = 0; w < whole; ++w) UnpackWord<8>(in++, to_sign, out + w * kWordBits);
    UnpackWord<kVectors>(in++, to_sign, out + whole * kWordBits);
  }
  UnpackFloatRows(in, rows - rows_before, channels, out);
}

void UnpackFloatNeon(const uint32_t* in, size_t rows, size_t channels, float* out) {
  if (channels == 0) return;
  const size_t vectors = ((channels - 1) % kWordBits + kLanes) / kLanes;
  if (vectors == 1) return UnpackFloats<1>(in, rows, channels, out);
  if (vectors == 2) return UnpackFloats<2>(in, rows, channels, out);
  if (vectors == 3) return UnpackFloats<3>(in, rows, channels, out);
  if (vectors == 4) return UnpackFloats<4>(in, rows, channels, out);
  if (vectors <= 6) return UnpackFloats<6>(in, rows, channels, out);
  return UnpackFloats<8>(in, rows, channels, out);
}

// T is a byte. Each byte of a word goes to eight lanes, each of which tests its bit. A row's last
// vector, of kStep bytes, may run into the rows after it.
template <size_t kStep, typename T>
inline void UnpackBytes(const uint32_t* in, size_t rows, size_t channels, T plus, T minus, T* out) {
  const uint8x16_t pluses = vdupq_n_u8(static_cast<uint8_t>(plus));
  const uint8x16_t minuses = vdupq_n_u8(static_cast<uint8_t>(minus));
  const uint8x16_t bit_of_lane = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  const uint8x16_t first = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
  const uint8x16_t second = vcombine_u8(vdup_n_u8(2), vdup_n_u8(3));
  const size_t rows_before = RowsBefore((kStep - channels % kStep) % kStep, rows, channels);
  for (size_t i = 0; i < rows_before; ++i, out += channels) {
    for (size_t c = 0; c < channels; c += kStep) {
      const uint8x16_t word = vreinterpretq_u8_u32(vld1q_dup_u32(in++));
      const auto sixteen = [&](uint8x16_t lanes) {
        return vbslq_u8(vtstq_u8(vqtbl1q_u8(word, lanes), bit_of_lane), minuses, pluses);
      };
      uint8_t* to = reinterpret_cast<uint8_t*>(out) + c;
      if constexpr (kStep == 8) {
        vst1_u8(to, vget_low_u8(sixteen(first)));
      } else {
        const uint8x16_t low = sixteen(first);
        if constexpr (kStep == kWordBits) {
          const uint8x16_t high = sixteen(second);
          vst1q_u8(to, low);
          vst1q_u8(to + 16, high);
        } else {
          vst1q_u8(to, low);
        }
      }
    }
  }
  UnpackByteRows(in, rows - rows_before, channels, plus, minus, out);
}

template <typename T>
inline void UnpackBytes(const uint32_t* in, size_t rows, size_t channels, T plus, T minus, T* out) {
  if (channels <= 8) return UnpackBytes<8>(in, rows, channels, plus, minus, out);
  if (channels <= 16) return UnpackBytes<16>(in, rows, channels, plus, minus, out);
  return UnpackBytes<kWordBits>(in, rows, channels, plus, minus, out);
}

void UnpackInt8Neon(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                    int8_t* out) {
  UnpackBytes(in, rows, channels, plus, minus, out);
}

void UnpackBoolNeon(const uint32_t* in, size_t rows, size_t channels, uint8_t* out) {
  UnpackBytes<uint8_t>(in, rows, channels, 1, 0, out);
}

constexpr PixelOps WithNeon() {
  PixelOps ops = WithVectors<Vec4>();
  ops.to_float = ToFloatNeon;
  ops.to_int8 = ToInt8Neon;
  ops.to_bits = ToBitsNeon;
  ops.bitpack_float = BitpackFloatNeon;
  ops.bitpack_float_limits = BitpackFloatLimitsNeon;
  ops.bitpack_int8 = BitpackInt8Neon;
  ops.bitpack_bool = BitpackBoolNeon;
  ops.unpack_float = UnpackFloatNeon;
  ops.unpack_int8 = UnpackInt8Neon;
  ops.unpack_bool = UnpackBoolNeon;
  ops.max_bits = MaxBitVectors<VecOfWords>;
  return ops;
}

}  // namespace

constexpr PixelOps kPixelOpsNeon = WithNeon();

}  // namespace larq_engine
