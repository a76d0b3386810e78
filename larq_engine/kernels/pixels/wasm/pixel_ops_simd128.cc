// PixelOps of WebAssembly: shared loops over vectors that are pairs of 128 bits, so that four of
// them make a word of bits.
#include "larq_engine/kernels/pixels/wasm/pixel_ops_simd128.h"

#include <wasm_simd128.h>

#include "larq_engine/kernels/pixels/pixel_ops_masks.h"

#if !defined(__wasm_simd128__)
#error "this file is built with the flags of ISA_COPTS[\"simd128\"]"
#endif

namespace larq_engine {
namespace {

struct Pair {
  v128_t low, high;
};

struct DealsInLoops {
  static void DealRows(const unsigned char* stream, size_t rows, size_t channels, uint32_t* out) {
    larq_engine::DealRows(stream, rows, channels, out);
  }
};

inline Pair Both(v128_t v) { return {v, v}; }

template <typename Function>
[[gnu::always_inline]] inline Pair Each(Pair a, Pair b, const Function& function) {
  return {function(a.low, b.low), function(a.high, b.high)};
}
template <typename Function>
[[gnu::always_inline]] inline Pair Each(Pair a, const Function& function) {
  return {function(a.low), function(a.high)};
}

inline uint32_t TopBits(Pair bytes) {
  return wasm_i8x16_bitmask(bytes.low) | wasm_i8x16_bitmask(bytes.high) << 16;
}

struct Vec8 : DealsInLoops {
  using Floats = Pair;
  using Ints = Pair;
  static constexpr size_t kLanes = 8;
  static constexpr size_t kBlock = 2;
  static constexpr bool kClampsAreCheap = true;
  static constexpr bool kHoldsChannels = true;
  static constexpr bool kMasksLanes = false;
  static Floats Set(float value) { return Both(wasm_f32x4_splat(value)); }
  static Floats Load(const float* from) { return LoadInts(from); }
  static Ints LoadInts(const void* from) {
    const auto* at = static_cast<const unsigned char*>(from);
    return {wasm_v128_load(at), wasm_v128_load(at + sizeof(v128_t))};
  }
  static void Store(float* to, Floats x) { StoreInts(to, x); }
  static void StoreInts(void* to, Ints x) {
    auto* at = static_cast<unsigned char*>(to);
    wasm_v128_store(at, x.low);
    wasm_v128_store(at + sizeof(v128_t), x.high);
  }
  static Floats Add(Floats a, Floats b) { return Each(a, b, wasm_f32x4_add); }
  static Floats Multiply(Floats a, Floats b) { return Each(a, b, wasm_f32x4_mul); }
  static Floats Divide(Floats a, Floats b) { return Each(a, b, wasm_f32x4_div); }
  // PMAX and PMIN return their first operand unless the second is greater or lesser.
  static Floats Greater(Floats a, Floats b) { return Each(b, a, wasm_f32x4_pmax); }
  static Floats Lesser(Floats a, Floats b) { return Each(b, a, wasm_f32x4_pmin); }
  static Floats Prelu(Floats x, Floats slope) {
    return Each(x, slope, [](v128_t v, v128_t s) {
      const v128_t is_negative = wasm_f32x4_lt(v, wasm_f32x4_const_splat(0));
      return wasm_v128_bitselect(wasm_f32x4_mul(v, s), v, is_negative);
    });
  }
  static Ints SetInts(int32_t value) { return Both(wasm_i32x4_splat(value)); }
  static Ints AddInts(Ints a, Ints b) { return Each(a, b, wasm_i32x4_add); }
  static Ints SubtractInts(Ints a, Ints b) { return Each(a, b, wasm_i32x4_sub); }
  static Ints GreaterInts(Ints a, Ints b) { return Each(a, b, wasm_i32x4_max); }
  static Ints LesserInts(Ints a, Ints b) { return Each(a, b, wasm_i32x4_min); }
  static Ints Twice(Ints x) { return AddInts(x, x); }
  static Ints Half(Ints x) {
    return Each(x, [](v128_t v) { return wasm_i32x4_shr(v, 1); });
  }
  static Ints ShiftUp(Ints x, int bits) {
    return Each(x, [bits](v128_t v) { return wasm_i32x4_shl(v, static_cast<uint32_t>(bits)); });
  }
  static Ints And(Ints a, Ints b) { return Each(a, b, wasm_v128_and); }
  static Ints AndNot(Ints a, Ints b) { return Each(b, a, wasm_v128_andnot); }
  static Floats ToFloats(Ints x) { return Each(x, wasm_f32x4_convert_i32x4); }
  static Ints Truncate(Floats x) { return Each(x, wasm_i32x4_trunc_sat_f32x4); }
  static Floats Xor(Floats x, Ints bits) { return Each(x, bits, wasm_v128_xor); }
  static Floats WithBits(Floats a, Floats b, Floats mask) {
    return Each(a, And(b, mask), wasm_v128_or);
  }

  using Mask = Pair;
  using Word = uint32_t;
  static Mask Less(Floats a, Floats b) { return Each(a, b, wasm_f32x4_lt); }
  static Mask LessInts(Ints a, Ints b) { return Each(a, b, wasm_i32x4_lt); }
  static uint32_t Bits(Mask m) {
    return wasm_i32x4_bitmask(m.low) | wasm_i32x4_bitmask(m.high) << 4;
  }
  static Word Bits(Mask m0, Mask m1, Mask m2, Mask m3) {
    const auto halves = [](Mask m) { return wasm_i16x8_narrow_i32x4(m.low, m.high); };
    return TopBits({wasm_i8x16_narrow_i16x8(halves(m0), halves(m1)),
                    wasm_i8x16_narrow_i16x8(halves(m2), halves(m3))});
  }

  template <typename T>
  static const T* InOneRegister(const T* tap) {
    return tap;
  }
  template <typename Body>
  static void ForRest(size_t count, const Body& body) {
    for (size_t i = 0; i < count; ++i) body(OneValue(), i);
  }
};

struct Bytes32 : DealsInLoops {
  using Mask = Pair;
  using Word = uint32_t;
  static constexpr size_t kLanes = 32;
  static Pair Set(int8_t value) { return Both(wasm_i8x16_splat(value)); }
  static Pair Load(const void* from) { return Vec8::LoadInts(from); }
  static Mask Less(Pair a, Pair b) { return Each(a, b, wasm_i8x16_lt); }
  static Mask IsZero(Pair a) {
    return Each(a, [](v128_t v) { return wasm_i8x16_eq(v, wasm_i8x16_const_splat(0)); });
  }
  static Word Bits(Mask mask) { return TopBits(mask); }
  template <typename Body>
  static void ForRest(size_t count, const Body& body) {
    for (size_t i = 0; i < count; ++i) body(OneByte(), i);
  }
};

}  // namespace

constexpr PixelOps kPixelOpsSimd128 = WithMasks<Vec8, Bytes32>();

}  // namespace larq_engine
