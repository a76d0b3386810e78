// GMAC/s of V8 on a Zen 3 beside other work, at 3x3 taps of 64, 128, 256 and 512 channels:
//   portable  54  62  71  97
//   look-up  170 184 191 192
//   look-up  139 112 115 113   in whole bytes (ByteFilters), by tiles of two pixels
#include "larq_engine/kernels/binary/wasm/bgemm_simd128.h"

#include <wasm_simd128.h>

#include "larq_engine/kernels/binary/bgemm_look_up.h"

#if !defined(__wasm_simd128__)
#error "this file is built with the flags of ISA_COPTS[\"simd128\"]"
#endif

namespace larq_engine {
namespace {

struct Simd128 {
  using Vector = v128_t;
  static constexpr int kMostVectorsOfTwo = 2;
  static constexpr size_t kSums = 4;

  static Vector Zero() { return wasm_i32x4_const_splat(0); }
  static Vector Table(const uint8_t* table) { return wasm_v128_load(table); }
  static Vector LookUp(Vector table, Vector nibbles) { return wasm_i8x16_swizzle(table, nibbles); }
  static Vector AddBytes(Vector a, Vector b) { return wasm_i8x16_add(a, b); }
  static Vector AddLanes(Vector a, Vector b) { return wasm_i16x8_add(a, b); }
  static Vector SubtractLanes(Vector a, Vector b) { return wasm_i16x8_sub(a, b); }
  static Vector ShiftUp(Vector v) { return wasm_i16x8_shl(v, 4); }
  template <int kBits>
  static Vector ShiftDown(Vector v) {
    return wasm_u16x8_shr(v, kBits);
  }
  static Vector LowBytes(Vector v) { return wasm_v128_and(v, wasm_i16x8_const_splat(255)); }
  static Vector LowNibbles(Vector v) { return wasm_v128_and(v, wasm_i8x16_const_splat(15)); }
  static void Keep(Vector&) {}  // the compiler of the module assigns registers

  template <int kWords>
  [[gnu::always_inline]] static void StoreOffsets(const uint32_t* first, const uint32_t* second,
                                                  TableOffset* to) {
    const Vector a = LoadWords<kWords>(first), b = LoadWords<kWords>(second);
    const Vector low = wasm_v128_or(LowNibbles(a), wasm_i8x16_shl(LowNibbles(b), 4));
    const Vector low_of_a = wasm_u8x16_shr(a, 4);
    const Vector high = wasm_v128_or(low_of_a, wasm_v128_andnot(b, wasm_i8x16_const_splat(15)));
    // In the order of nibbles, bytes of `low` and `high` take turns.
    const Vector lower =
        wasm_i8x16_shuffle(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    StoreEight(wasm_u16x8_extend_low_u8x16(lower), to);
    if constexpr (kWords == 1) return;
    StoreEight(wasm_u16x8_extend_high_u8x16(lower), to + kNibbles);
    if constexpr (kWords == 2) return;
    const Vector upper =
        wasm_i8x16_shuffle(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    StoreEight(wasm_u16x8_extend_low_u8x16(upper), to + 2 * kNibbles);
    StoreEight(wasm_u16x8_extend_high_u8x16(upper), to + 3 * kNibbles);
  }

  static void StoreSums(const uint16_t* counts, size_t columns, bool add, int32_t* acc) {
    Vector sums = wasm_u32x4_load16x4(counts);
    if (columns >= kSums) {
      if (add) sums = wasm_i32x4_add(sums, wasm_v128_load(acc));
      wasm_v128_store(acc, sums);
    } else {
      for (size_t j = 0; j < columns; ++j) acc[j] = counts[j] + (add ? acc[j] : 0);
    }
  }

 private:
  template <int kWords>
  [[gnu::always_inline]] static Vector LoadWords(const uint32_t* words) {
    if constexpr (kWords == 1) {
      return wasm_v128_load32_zero(words);
    } else if constexpr (kWords == 2) {
      return wasm_v128_load64_zero(words);
    } else {
      return wasm_v128_load(words);
    }
  }
  // A table has 16 bytes.
  [[gnu::always_inline]] static void StoreEight(Vector tables, TableOffset* to) {
    wasm_v128_store(to, wasm_i16x8_shl(tables, 4));
  }
};

}  // namespace

void BgemmI32_8x16x32Simd128(const BgemmArgs& args) {
  BgemmLookUp<Simd128, NibbleFilters, 8>(args);
}

}  // namespace larq_engine
