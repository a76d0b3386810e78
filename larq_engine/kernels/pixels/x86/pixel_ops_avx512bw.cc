// All of PixelOps in vectors of 64 bytes. The end of a row is a vector with a mask that leaves out
// the lanes past the row; these are neither read nor written.
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx512bw.h"

#include <cstring>

// gcc 12 warns about the values that its own header leaves undefined on purpose.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/kernels/pixels/pixel_ops_rows.h"
#include "larq_engine/kernels/pixels/x86/deal_rows.h"
#include "larq_engine/kernels/pixels/x86/join_rows_avx512bw.h"

#if !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kFloats = 16;                // in a vector
constexpr size_t kBlockBits = 2 * kWordBits;  // values packed at a time

// Returns a mask of the first `count` lanes, of up to 16 or 64.
inline __mmask16 First16(size_t count) {
  return static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(count)));
}
inline __mmask64 First64(size_t count) { return _bzhi_u64(~uint64_t{0}, count); }

// Access to a vector of floats or int32s: to all of its lanes, or to its first ones.
struct AllLanes {
  __m512 Load(const float* from) const { return _mm512_loadu_ps(from); }
  __m512i Load(const int32_t* from) const { return _mm512_loadu_si512(from); }
  void Store(float* to, __m512 values) const { _mm512_storeu_ps(to, values); }
  void Store(int32_t* to, __m512i values) const { _mm512_storeu_si512(to, values); }
  void Store(int8_t* to, __m128i values) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), values);
  }
  __mmask16 Keep(__mmask16 mask) const { return mask; }
};

struct FirstLanes {
  __mmask16 lanes;
  __m512 Load(const float* from) const { return _mm512_maskz_loadu_ps(lanes, from); }
  __m512i Load(const int32_t* from) const { return _mm512_maskz_loadu_epi32(lanes, from); }
  void Store(float* to, __m512 values) const { _mm512_mask_storeu_ps(to, lanes, values); }
  void Store(int32_t* to, __m512i values) const { _mm512_mask_storeu_epi32(to, lanes, values); }
  void Store(int8_t* to, __m128i values) const { _mm_mask_storeu_epi8(to, lanes, values); }
  __mmask16 Keep(__mmask16 mask) const { return _kand_mask16(mask, lanes); }
};

// Calls body(at, lanes) for each vector of `count` values.
template <typename Body>
inline void ForVectors(size_t count, const Body& body) {
  size_t at = 0;
  for (; at + 4 * kFloats <= count; at += 4 * kFloats) {
    body(at, AllLanes{});
    body(at + kFloats, AllLanes{});
    body(at + 2 * kFloats, AllLanes{});
    body(at + 3 * kFloats, AllLanes{});
  }
  for (; at + kFloats <= count; at += kFloats) body(at, AllLanes{});
  if (at < count) body(at, FirstLanes{First16(count - at)});
}

// The processor's minimum and maximum return their second operand when either is NaN or both are
// zero, which is what `a < b ? a : b` says.
struct ClampVector {
  __m512 min;
  __m512 max;
  explicit ClampVector(FloatRange range)
      : min(_mm512_set1_ps(range.min)), max(_mm512_set1_ps(range.max)) {}
  __m512 operator()(__m512 x) const { return _mm512_min_ps(max, _mm512_max_ps(min, x)); }
};

inline __m512 PreluVector(__m512 x, __m512 slope) {
  const __mmask16 negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  return _mm512_mask_mul_ps(x, negative, x, slope);
}

template <typename T>
inline T* OutRow(const TransformArgs& args, size_t row, size_t channel) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(args.out) + row * args.out_stride) +
         channel;
}

inline const float* AddendRow(const TransformArgs& args, size_t row, size_t channel) {
  const auto* addend = reinterpret_cast<const unsigned char*>(args.sum.addend);
  return reinterpret_cast<const float*>(addend + row * args.out_stride) + channel;
}

inline __m512i Dot(__m512i depth, __m512i acc) {
  // This is a shift, because gcc 12 turns depth - (acc + acc) into two subtractions that load acc
  // twice.
  return _mm512_sub_epi32(depth, _mm512_slli_epi32(acc, 1));
}

// Calls store(row, channel, lanes, y) for each vector of y = clamp(dot) * multiplier + bias.
// Channels are computed in blocks, whose multipliers and biases stay in registers from row to row.
template <bool kClamp, size_t kVectors, typename Lanes, typename Store>
inline void AffineBlock(const TransformArgs& args, size_t channel, Lanes lanes,
                        const Store& store) {
  __m512 multiplier[kVectors], bias[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    multiplier[v] = lanes.Load(args.multiplier + channel + v * kFloats);
    bias[v] = lanes.Load(args.bias + channel + v * kFloats);
  }
  const __m512i dot_min = _mm512_set1_epi32(args.dot_min);
  const __m512i dot_max = _mm512_set1_epi32(args.dot_max);
  const int32_t* acc = args.acc + channel;
  for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
    const __m512i depth = _mm512_set1_epi32(args.depth[i]);
    for (size_t v = 0; v < kVectors; ++v) {
      __m512i dot = Dot(depth, lanes.Load(acc + v * kFloats));
      if (kClamp) dot = _mm512_min_epi32(_mm512_max_epi32(dot, dot_min), dot_max);
      const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(dot), multiplier[v]);
      store(i, channel + v * kFloats, lanes, _mm512_add_ps(product, bias[v]));
    }
  }
}

template <bool kClamp, typename Store>
inline void AffineBlocks(const TransformArgs& args, const Store& store) {
  size_t c = 0;
  for (; c + 4 * kFloats <= args.channels; c += 4 * kFloats) {
    AffineBlock<kClamp, 4>(args, c, AllLanes{}, store);
  }
  for (; c + kFloats <= args.channels; c += kFloats) {
    AffineBlock<kClamp, 1>(args, c, AllLanes{}, store);
  }
  if (c < args.channels) {
    AffineBlock<kClamp, 1>(args, c, FirstLanes{First16(args.channels - c)}, store);
  }
}

template <typename Store>
inline void Affine(const TransformArgs& args, const Store& store) {
  // Most layers have no activation.
  if (args.dot_min == INT32_MIN && args.dot_max == INT32_MAX) {
    AffineBlocks<false>(args, store);
  } else {
    AffineBlocks<true>(args, store);
  }
}

void ToFloat(const TransformArgs& given) {
  const TransformArgs args = given;  // a copy, which writing the output cannot change
  const ResidualSum& sum = args.sum;
  if (sum.addend == nullptr) {
    Affine(args, [&args](size_t i, size_t c, auto lanes, __m512 y) {
      lanes.Store(OutRow<float>(args, i, c), y);
    });
    return;
  }
  const auto store_sums = [&](const auto& before, const auto& after) {
    Affine(args, [&](size_t i, size_t c, auto lanes, __m512 y) {
      y = _mm512_add_ps(before(c, lanes, y), lanes.Load(AddendRow(args, i, c)));
      lanes.Store(OutRow<float>(args, i, c), after(y));
    });
  };
  const auto no_gate = [](size_t, auto, __m512 y) { return y; };
  const auto gate = [&sum](size_t c, auto lanes, __m512 y) {
    return PreluVector(_mm512_mul_ps(y, lanes.Load(sum.gate + c)), lanes.Load(sum.slopes + c));
  };
  const auto no_clamp = [](__m512 y) { return y; };
  const ClampVector clamp(sum.range);
  const bool is_clamped = !ClampsNothing(sum.range);
  if (sum.gate == nullptr) {
    is_clamped ? store_sums(no_gate, clamp) : store_sums(no_gate, no_clamp);
  } else {
    is_clamped ? store_sums(gate, clamp) : store_sums(gate, no_clamp);
  }
}

void ToInt8(const TransformArgs& given) {
  const TransformArgs args = given;
  // This rounds as pixel_ops_loops.h does: NaN becomes the lower end. The greatest float below one
  // half, with the sign of y, rounds halves away from zero and rounds no smaller fraction up.
  const __m512 lowest = _mm512_set1_ps(static_cast<float>(-128 - args.zero_point));
  const __m512 highest = _mm512_set1_ps(static_cast<float>(127 - args.zero_point));
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  const __m512i half = _mm512_castps_si512(_mm512_set1_ps(0x1.fffffep-2f));
  const __m512i zero_point = _mm512_set1_epi32(args.zero_point);
  Affine(args, [&](size_t i, size_t c, auto lanes, __m512 y) {
    y = _mm512_min_ps(_mm512_max_ps(y, lowest), highest);
    const __m512i signed_half =  // half | (y & sign)
        _mm512_ternarylogic_epi32(half, _mm512_castps_si512(y), sign, 0xf8);
    y = _mm512_add_ps(y, _mm512_castsi512_ps(signed_half));
    const __m512i whole = _mm512_add_epi32(_mm512_cvttps_epi32(y), zero_point);
    lanes.Store(OutRow<int8_t>(args, i, c), _mm512_cvtepi32_epi8(whole));
  });
}

// Packing: these functions take conditions of up to 64 channels at a time.

inline uint64_t Join(__mmask16 m0, __mmask16 m1, __mmask16 m2, __mmask16 m3) {
  return _cvtmask64_u64(_mm512_kunpackd(_mm512_kunpackw(m3, m2), _mm512_kunpackw(m1, m0)));
}

inline void StoreWords(uint64_t bits, size_t channels, uint32_t* out) {
  std::memcpy(out, &bits, channels > kWordBits ? 8 : 4);
}

// condition(v, lanes) is the mask of channels [16 v, 16 v + 16).
template <typename Condition>
inline void PackBlock(const Condition& condition, uint32_t* out) {
  const uint64_t bits = Join(condition(0, AllLanes{}), condition(1, AllLanes{}),
                             condition(2, AllLanes{}), condition(3, AllLanes{}));
  std::memcpy(out, &bits, sizeof(bits));
}

template <typename Condition>
inline void PackTail(size_t channels, const Condition& condition, uint32_t* out) {
  uint64_t bits = 0;
  size_t v = 0;
  for (; (v + 1) * kFloats <= channels; ++v) {
    bits |= uint64_t{condition(v, AllLanes{})} << (v * kFloats);
  }
  if (v * kFloats < channels) {
    const FirstLanes lanes{First16(channels - v * kFloats)};
    bits |= uint64_t{lanes.Keep(condition(v, lanes))} << (v * kFloats);
  }
  StoreWords(bits, channels, out);
}

// dot < limit, that is depth - 2 acc < limit, holds exactly if acc > floor((depth - limit) / 2).
// The difference may need 33 bits, but its half never does, because depth is not negative.
inline __m512i AccLimit(__m512i depth, __m512i limit) {
  const __m512i half = _mm512_sub_epi32(_mm512_srai_epi32(depth, 1), _mm512_srai_epi32(limit, 1));
  const __m512i borrow = _mm512_andnot_si512(depth, limit);  // the lowest bit: 0 - 1
  return _mm512_sub_epi32(half, _mm512_and_si512(borrow, _mm512_set1_epi32(1)));
}

void ToBits(const TransformArgs& given) {
  const TransformArgs args = given;
  size_t c = 0;
  for (; c + kBlockBits <= args.channels; c += kBlockBits) {
    // Neighbouring pixels mostly have the same depth, and then the same limits.
    __m512i limit[4];
    int32_t depth = -1;
    const int32_t* acc = args.acc + c;
    for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
      if (args.depth[i] != depth) {
        depth = args.depth[i];
        for (size_t v = 0; v < 4; ++v) {
          limit[v] = AccLimit(_mm512_set1_epi32(depth),
                              _mm512_loadu_si512(args.dot_limit + c + v * kFloats));
        }
      }
      const auto is_set = [&](size_t v, auto lanes) {
        return _mm512_cmpgt_epi32_mask(lanes.Load(acc + v * kFloats), limit[v]);
      };
      PackBlock(is_set, OutRow<uint32_t>(args, i, c / kWordBits));
    }
  }
  if (c == args.channels) return;
  const int32_t* acc = args.acc + c;
  for (size_t i = 0; i < args.rows; ++i, acc += args.acc_stride) {
    const __m512i depth = _mm512_set1_epi32(args.depth[i]);
    const auto is_set = [&](size_t v, auto lanes) {
      return _mm512_cmplt_epi32_mask(Dot(depth, lanes.Load(acc + v * kFloats)),
                                     lanes.Load(args.dot_limit + c + v * kFloats));
    };
    PackTail(args.channels - c, is_set, OutRow<uint32_t>(args, i, c / kWordBits));
  }
}

void BitpackFloat(const float* in, size_t rows, size_t channels, uint32_t* out) {
  // Compares x < 0 in integers, as pixel_ops_loops.h does, because the result must not depend on
  // the thread's float flags.
  const __m512i smallest = _mm512_set1_epi32(static_cast<int32_t>(0x80000001u));
  const __m512i range = _mm512_set1_epi32(static_cast<int32_t>(0xff800000u - 0x80000001u));
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    for (size_t c = 0; c < count; c += kBlockBits) {
      const auto is_negative = [&](size_t v, auto lanes) {
        const __m512i bits = _mm512_castps_si512(lanes.Load(in + first + c + v * kFloats));
        return _mm512_cmple_epu32_mask(_mm512_sub_epi32(bits, smallest), range);
      };
      if (count - c >= kBlockBits) {
        PackBlock(is_negative, to + c / kWordBits);
      } else {
        PackTail(count - c, is_negative, to + c / kWordBits);
      }
    }
  };
  PackRows(rows, channels, pack, DealRowsAvx2, out);
}

inline __mmask16 AreBelow(__m512 x, __m512 limit, __m512 sign) {
  return _mm512_cmp_ps_mask(_mm512_xor_ps(x, sign), limit, _CMP_LT_OQ);
}

// Packs whole blocks, whose limits and signs stay in registers from row to row.
inline void BitpackBlockLimits(const float* in, const float* limits, const uint32_t* signs,
                               size_t rows, size_t channels, uint32_t* out, size_t out_stride) {
  for (size_t c = 0; c < channels; c += kBlockBits) {
    __m512 limit[4], sign[4];
    for (size_t v = 0; v < 4; ++v) {
      limit[v] = _mm512_loadu_ps(limits + c + v * kFloats);
      sign[v] = _mm512_castsi512_ps(_mm512_loadu_si512(signs + c + v * kFloats));
    }
    for (size_t i = 0; i < rows; ++i) {
      const auto is_set = [&](size_t v, auto lanes) {
        return AreBelow(lanes.Load(in + i * channels + c + v * kFloats), limit[v], sign[v]);
      };
      PackBlock(is_set, out + i * out_stride + c / kWordBits);
    }
  }
}

void BitpackFloatLimits(const float* in, const float* limits, const uint32_t* signs, size_t rows,
                        size_t channels, uint32_t* out, size_t out_stride) {
  if (channels % kBlockBits == 0) {
    return BitpackBlockLimits(in, limits, signs, rows, channels, out, out_stride);
  }
  const auto pack = [](const float* x, const float* limit, const uint32_t* sign, size_t count,
                       uint32_t* to) {
    for (size_t c = 0; c < count; c += kBlockBits) {
      const auto is_set = [&](size_t v, auto lanes) {
        const size_t at = c + v * kFloats;
        const __m512 turn =
            _mm512_castsi512_ps(lanes.Load(reinterpret_cast<const int32_t*>(sign + at)));
        return AreBelow(lanes.Load(x + at), lanes.Load(limit + at), turn);
      };
      if (count - c >= kBlockBits) {
        PackBlock(is_set, to + c / kWordBits);
      } else {
        PackTail(count - c, is_set, to + c / kWordBits);
      }
    }
  };
  PackLimitRows(in, limits, signs, rows, channels, pack, DealRowsAvx2, out, out_stride);
}

// condition(bytes) is the mask of 64 bytes.
template <typename Condition>
inline void BitpackBytes(const void* in, size_t rows, size_t channels, const Condition& condition,
                         uint32_t* out) {
  const auto pack = [&](size_t first, size_t count, uint32_t* to) {
    const unsigned char* from = static_cast<const unsigned char*>(in) + first;
    size_t c = 0;
    for (; c + kBlockBits <= count; c += kBlockBits) {
      StoreWords(condition(_mm512_loadu_si512(from + c)), kBlockBits, to + c / kWordBits);
    }
    if (c < count) {
      const __mmask64 lanes = First64(count - c);
      StoreWords(condition(_mm512_maskz_loadu_epi8(lanes, from + c)) & lanes, count - c,
                 to + c / kWordBits);
    }
  };
  PackRows(rows, channels, pack, DealRowsAvx2, out);
}

void BitpackInt8(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                 uint32_t* out) {
  // Above 127 all values are smaller than the zero point, and no int8 can express it as a limit.
  const __mmask64 all = zero_point > 127 ? ~uint64_t{0} : 0;
  const __m512i limit = _mm512_set1_epi8(static_cast<int8_t>(zero_point < -128  ? -128
                                                             : zero_point > 127 ? 127
                                                                                : zero_point));
  BitpackBytes(
      in, rows, channels, [&](__m512i x) { return _mm512_cmplt_epi8_mask(x, limit) | all; }, out);
}

void BitpackBool(const uint8_t* in, size_t rows, size_t channels, uint32_t* out) {
  BitpackBytes(
      in, rows, channels, [](__m512i x) { return _mm512_testn_epi8_mask(x, x); }, out);
}

// Turns kFloats bits of a word, from bit `first` on, into floats: each lane shifts its bit to the
// sign.
struct SignedOnes {
  __m512i to_sign;
  explicit SignedOnes(size_t first)
      : to_sign(_mm512_sub_epi32(
            _mm512_set_epi32(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),
            _mm512_set1_epi32(static_cast<int32_t>(first)))) {}
  __m512 operator()(uint32_t word) const {
    const __m512i words = _mm512_set1_epi32(static_cast<int32_t>(word));
    const __m512i shifted = _mm512_sllv_epi32(words, to_sign);
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    const __m512i one = _mm512_castps_si512(_mm512_set1_ps(1.0f));
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(one, shifted, sign, 0xf8));  // one | (shifted & sign)
  }
};

void UnpackFloat(const uint32_t* in, size_t rows, size_t channels, float* out) {
  const SignedOnes lower(0), upper(kFloats);
  if (channels % kWordBits == kFloats && channels > kFloats) {
    // A row of whole and half words ends with a whole vector, so no lane is wasted.
    for (size_t i = 0; i < rows; ++i, out += kFloats) {
      for (size_t w = 0; w < channels / kWordBits; ++w, ++in, out += kWordBits) {
        _mm512_storeu_ps(out, lower(*in));
        _mm512_storeu_ps(out + kFloats, upper(*in));
      }
      _mm512_storeu_ps(out, lower(*in++));
    }
    return;
  }
  const auto unpack = [&](const uint32_t* words, size_t first, size_t count, size_t spare) {
    float* to = out + first;
    for (; count >= kWordBits; count -= kWordBits, to += kWordBits, ++words) {
      _mm512_storeu_ps(to, lower(*words));
      _mm512_storeu_ps(to + kFloats, upper(*words));
    }
    if (count == 0) return;
    if (count <= kFloats && spare >= kFloats) return _mm512_storeu_ps(to, lower(*words));
    _mm512_mask_storeu_ps(to, First16(count), lower(*words));
    if (count <= kFloats) return;
    _mm512_mask_storeu_ps(to + kFloats, First16(count - kFloats), upper(*words));
  };
  UnpackRows(in, rows, channels, channels < kNarrow, JoinRowsAvx512bw, unpack);
}

inline void UnpackBytes(const uint32_t* in, size_t rows, size_t channels, __m512i plus,
                        __m512i minus, void* out) {
  const auto unpack = [=](const uint32_t* words, size_t first, size_t count, size_t) {
    unsigned char* to = static_cast<unsigned char*>(out) + first;
    for (; count >= kBlockBits; count -= kBlockBits, to += kBlockBits, words += 2) {
      uint64_t bits;
      std::memcpy(&bits, words, sizeof(bits));
      _mm512_storeu_si512(to, _mm512_mask_blend_epi8(bits, plus, minus));
    }
    if (count == 0) return;
    uint64_t bits = words[0];
    if (count > kWordBits) bits |= uint64_t{words[1]} << kWordBits;
    _mm512_mask_storeu_epi8(to, First64(count), _mm512_mask_blend_epi8(bits, plus, minus));
  };
  UnpackRows(in, rows, channels, channels < kNarrow, JoinRowsAvx512bw, unpack);
}

void UnpackInt8(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                int8_t* out) {
  UnpackBytes(in, rows, channels, _mm512_set1_epi8(plus), _mm512_set1_epi8(minus), out);
}

void UnpackBool(const uint32_t* in, size_t rows, size_t channels, uint8_t* out) {
  UnpackBytes(in, rows, channels, _mm512_set1_epi8(1), _mm512_setzero_si512(), out);
}

void MaxBits(const uint32_t* const* taps, size_t tap_count, size_t words, uint32_t* out) {
  for (size_t at = 0; at < words; at += kFloats) {
    const __mmask16 lanes = First16(words - at < kFloats ? words - at : kFloats);
    __m512i most = _mm512_maskz_loadu_epi32(lanes, taps[0] + at);
    for (size_t tap = 1; tap < tap_count; ++tap) {  // 1 is -1
      most = _mm512_and_si512(most, _mm512_maskz_loadu_epi32(lanes, taps[tap] + at));
    }
    _mm512_mask_storeu_epi32(out + at, lanes, most);
  }
}

void MaxFloat(const float* const* taps, size_t tap_count, size_t count, float* out) {
  ForVectors(count, [&](size_t at, auto lanes) {
    __m512 most = lanes.Load(taps[0] + at);
    for (size_t tap = 1; tap < tap_count; ++tap) {
      most = _mm512_max_ps(lanes.Load(taps[tap] + at), most);
    }
    lanes.Store(out + at, most);
  });
}

void MaxProducts(const float* const* taps, size_t tap_count, const float* factors, size_t count,
                 float* out) {
  ForVectors(count, [&](size_t at, auto lanes) {
    const __m512 factor = lanes.Load(factors + at);
    __m512 most = _mm512_mul_ps(lanes.Load(taps[0] + at), factor);
    for (size_t tap = 1; tap < tap_count; ++tap) {
      most = _mm512_max_ps(_mm512_mul_ps(lanes.Load(taps[tap] + at), factor), most);
    }
    lanes.Store(out + at, most);
  });
}

void Average(const float* const* taps, size_t tap_count, size_t count, float divisor, float* out) {
  const __m512 by = _mm512_set1_ps(divisor);
  ForVectors(count, [&](size_t at, auto lanes) {
    __m512 sum = _mm512_setzero_ps();
    for (size_t tap = 0; tap < tap_count; ++tap) {
      sum = _mm512_add_ps(sum, lanes.Load(taps[tap] + at));
    }
    lanes.Store(out + at, divisor == 1.0f ? sum : _mm512_div_ps(sum, by));
  });
}

// Computes kVectors vectors of units, whose sums hide each other's latency.
template <size_t kVectors>
inline void DenseBlock(const float* in, const float* weights, size_t depth, size_t units,
                       float* out) {
  __m512 sums[kVectors];
#pragma GCC unroll 4
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (size_t d = 0; d < depth; ++d, weights += units) {
    const __m512 x = _mm512_set1_ps(in[d]);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const __m512 w = _mm512_loadu_ps(weights + v * kFloats);
      sums[v] = _mm512_add_ps(sums[v], _mm512_mul_ps(x, w));
    }
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) _mm512_storeu_ps(out + v * kFloats, sums[v]);
}

void Dense(const float* in, const float* weights, size_t depth, size_t units, float* out) {
  constexpr size_t kBlock = 4 * kFloats;
  size_t u = 0;
  for (; u + kBlock <= units; u += kBlock) {
    DenseBlock<4>(in, weights + u, depth, units, out + u);
  }
  ForVectors(units - u, [&](size_t at, auto lanes) {
    __m512 sum = _mm512_setzero_ps();
    for (size_t d = 0; d < depth; ++d) {
      const __m512 w = lanes.Load(weights + d * units + u + at);
      sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_set1_ps(in[d]), w));
    }
    lanes.Store(out + u + at, sum);
  });
}

void Add(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  const ClampVector clamp(range);
  ForVectors(count, [&](size_t at, auto lanes) {
    lanes.Store(out + at, clamp(_mm512_add_ps(lanes.Load(a + at), lanes.Load(b + at))));
  });
}

void Multiply(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  const ClampVector clamp(range);
  ForVectors(count, [&](size_t at, auto lanes) {
    lanes.Store(out + at, clamp(_mm512_mul_ps(lanes.Load(a + at), lanes.Load(b + at))));
  });
}

// out = op(a, b) with one value of b a channel; the values of some channels are loaded once for all
// rows.
template <typename Op>
inline void ForChannels(const float* a, const float* b, size_t rows, size_t channels, float* out,
                        const Op& op) {
  if (rows == 0) return;  // b may be null then
  constexpr size_t kBlock = 4 * kFloats;
  size_t c = 0;
  for (; c + kBlock <= channels; c += kBlock) {
    const __m512 b0 = _mm512_loadu_ps(b + c), b1 = _mm512_loadu_ps(b + c + kFloats);
    const __m512 b2 = _mm512_loadu_ps(b + c + 2 * kFloats);
    const __m512 b3 = _mm512_loadu_ps(b + c + 3 * kFloats);
    for (size_t i = 0; i < rows; ++i) {
      const float* x = a + i * channels + c;
      float* y = out + i * channels + c;
      _mm512_storeu_ps(y, op(_mm512_loadu_ps(x), b0));
      _mm512_storeu_ps(y + kFloats, op(_mm512_loadu_ps(x + kFloats), b1));
      _mm512_storeu_ps(y + 2 * kFloats, op(_mm512_loadu_ps(x + 2 * kFloats), b2));
      _mm512_storeu_ps(y + 3 * kFloats, op(_mm512_loadu_ps(x + 3 * kFloats), b3));
    }
  }
  ForVectors(channels - c, [&](size_t at, auto lanes) {
    const __m512 of_channels = lanes.Load(b + c + at);
    for (size_t i = 0; i < rows; ++i) {
      const size_t from = i * channels + c + at;
      lanes.Store(out + from, op(lanes.Load(a + from), of_channels));
    }
  });
}

void AddChannels(const float* a, const float* b, size_t rows, size_t channels, FloatRange range,
                 float* out) {
  const ClampVector clamp(range);
  ForChannels(a, b, rows, channels, out,
              [&](__m512 x, __m512 y) { return clamp(_mm512_add_ps(x, y)); });
}

void MultiplyChannels(const float* a, const float* b, size_t rows, size_t channels,
                      FloatRange range, float* out) {
  const ClampVector clamp(range);
  ForChannels(a, b, rows, channels, out,
              [&](__m512 x, __m512 y) { return clamp(_mm512_mul_ps(x, y)); });
}

void ClampAll(const float* in, size_t count, FloatRange range, float* out) {
  const ClampVector clamp(range);
  ForVectors(count,
             [&](size_t at, auto lanes) { lanes.Store(out + at, clamp(lanes.Load(in + at))); });
}

void Prelu(const float* in, const float* slopes, size_t rows, size_t channels, float* out) {
  ForChannels(in, slopes, rows, channels, out,
              [](__m512 x, __m512 slope) { return PreluVector(x, slope); });
}

void AddShifted(const int32_t* in, size_t count, int shift, int32_t* acc) {
  const __m128i by = _mm_cvtsi32_si128(shift);
  ForVectors(count, [&](size_t at, auto lanes) {
    const __m512i shifted = _mm512_sll_epi32(lanes.Load(in + at), by);
    lanes.Store(acc + at, _mm512_add_epi32(lanes.Load(acc + at), shifted));
  });
}

}  // namespace

constexpr PixelOps kPixelOpsAvx512bw = {
    .add_shifted = AddShifted,
    .to_float = ToFloat,
    .to_int8 = ToInt8,
    .to_bits = ToBits,
    .round_sums = RoundSums,
    .bitpack_float = BitpackFloat,
    .bitpack_float_limits = BitpackFloatLimits,
    .bitpack_int8 = BitpackInt8,
    .bitpack_bool = BitpackBool,
    .unpack_float = UnpackFloat,
    .unpack_int8 = UnpackInt8,
    .unpack_bool = UnpackBool,
    .max_bits = MaxBits,
    .max_float = MaxFloat,
    .max_products = MaxProducts,
    .average = Average,
    .dense = Dense,
    .add = Add,
    .multiply = Multiply,
    .add_channels = AddChannels,
    .multiply_channels = MultiplyChannels,
    .clamp = ClampAll,
    .prelu = Prelu,
};

}  // namespace larq_engine
