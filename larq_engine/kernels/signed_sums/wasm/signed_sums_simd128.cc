// Computes the sums of signed_sums_vectors.h; a vector of bytes is a quarter of a word of all
// outputs.
#include "larq_engine/kernels/signed_sums/wasm/signed_sums_simd128.h"

#include <wasm_simd128.h>

#include "larq_engine/kernels/signed_sums/signed_sums_tables.h"
#include "larq_engine/kernels/signed_sums/signed_sums_vectors.h"

#if !defined(__wasm_simd128__)
#error "this file is built with the flags of ISA_COPTS[\"simd128\"]"
#endif

namespace larq_engine {
namespace {

struct Vec16 {
  using Bytes = v128_t;
  using Sums = v128_t;
  struct Wide {
    v128_t low, high;
  };
  static constexpr size_t kBytes = 16;
  static constexpr size_t kInt8Blocks = 1;
  static Bytes Load(const void* from) { return wasm_v128_load(from); }
  static Bytes LowBits(Bytes bits) { return wasm_v128_and(bits, wasm_i8x16_const_splat(15)); }
  static Bytes HighBits(Bytes bits) { return wasm_u8x16_shr(bits, 4); }
  static Bytes LookUp(Bytes table, Bytes at) { return wasm_i8x16_swizzle(table, at); }
  static Bytes Add(Bytes a, Bytes b) { return wasm_i8x16_add(a, b); }
  static void AddDigits(Sums (&sums)[2], Bytes low, Bytes high) {
    const auto with_digits = [](v128_t sum, v128_t l, v128_t h) {
      return wasm_i16x8_add(wasm_i16x8_add(sum, l), wasm_i16x8_shl(h, 5));
    };
    sums[0] =
        with_digits(sums[0], wasm_u16x8_extend_low_u8x16(low), wasm_u16x8_extend_low_u8x16(high));
    sums[1] =
        with_digits(sums[1], wasm_u16x8_extend_high_u8x16(low), wasm_u16x8_extend_high_u8x16(high));
  }
  static Wide AddSums(Wide minus, Sums sums) {
    return {wasm_i32x4_add(minus.low, wasm_u32x4_extend_low_u16x8(sums)),
            wasm_i32x4_add(minus.high, wasm_u32x4_extend_high_u16x8(sums))};
  }
  static void StoreSums(int32_t base, Wide minus, int32_t* to) {
    const v128_t bases = wasm_i32x4_splat(base);
    wasm_v128_store(to, wasm_i32x4_sub(bases, wasm_i32x4_shl(minus.low, 1)));
    wasm_v128_store(to + 4, wasm_i32x4_sub(bases, wasm_i32x4_shl(minus.high, 1)));
  }

  // A lane's bit decides the sign of each input, which costs no look-up of floats: a shuffle finds
  // bytes, and a table of floats would be four of them.
  struct Floats {
    v128_t v;
  };
  struct Words {
    v128_t v;
  };
  static constexpr size_t kFloats = 4;
  static constexpr size_t kFloatBlocks = 2;
  static Words LoadWords(const uint32_t* from) { return {wasm_v128_load(from)}; }
  static Words NextFour(Words words) { return {wasm_u32x4_shr(words.v, 4)}; }
  static Floats Add(Floats a, Floats b) { return {wasm_f32x4_add(a.v, b.v)}; }
  static void Store(float* to, Floats x) { wasm_v128_store(to, x.v); }

  struct Table {
    v128_t inputs[4];
  };
  struct TableMaker {
    Table operator()(const float* inputs) const {
      return {{wasm_v128_load32_splat(inputs), wasm_v128_load32_splat(inputs + 1),
               wasm_v128_load32_splat(inputs + 2), wasm_v128_load32_splat(inputs + 3)}};
    }
  };
  static Floats Select(const Table& table, Words words) {
    const auto with_sign = [&](int i) {
      const v128_t top = wasm_i32x4_shl(words.v, static_cast<uint32_t>(31 - i));
      const v128_t sign = wasm_v128_and(top, wasm_i32x4_const_splat(INT32_MIN));
      return wasm_v128_xor(table.inputs[i], sign);
    };
    const v128_t two = wasm_f32x4_add(with_sign(0), with_sign(1));
    return {wasm_f32x4_add(wasm_f32x4_add(two, with_sign(2)), with_sign(3))};
  }
};

}  // namespace

constexpr SignedSums kSignedSumsSimd128 = {.make_tables = MakeInt8TablesInLoops,
                                           .of_int8 = Int8SumsOfVectors<Vec16>,
                                           .of_float = FloatSumsOfVectors<Vec16>};

}  // namespace larq_engine
