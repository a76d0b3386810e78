// The loops of PixelOps, written once and compiled once for each ISA, whose flags decide how the
// compiler vectorises them. Everything here is internal to the file that includes it: a copy
// compiled with ISA flags must never be merged with the copy that runs on any CPU.
#ifndef LARQ_ENGINE_KERNELS_PIXEL_OPS_LOOPS_H_
#define LARQ_ENGINE_KERNELS_PIXEL_OPS_LOOPS_H_

#include <cstring>

#include "larq_engine/kernels/pixel_ops.h"

namespace larq_engine {
namespace {

inline constexpr size_t kPackBits = 32;  // values in a word

inline size_t PackedWords(size_t channels) { return (channels + kPackBits - 1) / kPackBits; }

// Packs 32 bytes, each 0 or 1, into a word. The product moves bit 0 of each of 8 bytes into the top
// byte (byte j is shifted by 56 - 7j and no two partial products meet), which lets the comparison
// that made the bytes be vectorised by the compiler for any ISA.
inline uint32_t PackWord(const uint8_t* bytes) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) {
    uint64_t eight;
    std::memcpy(&eight, bytes + 8 * i, sizeof(eight));
    word |= static_cast<uint32_t>((eight * 0x0102040810204080) >> 56) << (8 * i);
  }
  return word;
}

// One row of `channels` conditions as words; is_set(c) says whether channel c's bit is 1.
template <typename IsSet>
inline void PackRow(size_t channels, const IsSet& is_set, uint32_t* out) {
  for (size_t c = 0; c < channels; c += kPackBits) {
    uint8_t set[kPackBits] = {};
    if (channels - c >= kPackBits) {
      for (size_t i = 0; i < kPackBits; ++i) set[i] = is_set(c + i);
    } else {
      for (size_t i = 0; i < channels - c; ++i) set[i] = is_set(c + i);
    }
    *out++ = PackWord(set);
  }
}

inline float Clamp(float x, FloatRange range) {
  x = x < range.min ? range.min : x;
  return x > range.max ? range.max : x;
}

template <typename T>
inline T* OutRow(const TransformArgs& args, size_t row) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(args.out) + row * args.out_stride);
}

inline float Affine(const TransformArgs& args, int32_t acc, int32_t depth, size_t channel) {
  int32_t dot = depth - 2 * acc;
  dot = dot < args.dot_min ? args.dot_min : dot;
  dot = dot > args.dot_max ? args.dot_max : dot;
  return static_cast<float>(dot) * args.multiplier[channel] + args.bias[channel];
}

void ToFloat(const TransformArgs& given) {
  const TransformArgs args = given;  // a copy, which writing the output cannot change
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    float* __restrict out = OutRow<float>(args, i);
    for (size_t j = 0; j < args.channels; ++j) out[j] = Affine(args, acc[j], depth, j);
  }
}

void ToInt8(const TransformArgs& given) {
  const TransformArgs args = given;
  // Clamping to whole numbers before rounding gives the same as after, and makes the conversion to
  // int defined for any float; written so that NaN becomes the lower end.
  const float lowest = static_cast<float>(-128 - args.zero_point);
  const float highest = static_cast<float>(127 - args.zero_point);
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    int8_t* __restrict out = OutRow<int8_t>(args, i);
    for (size_t j = 0; j < args.channels; ++j) {
      float y = Affine(args, acc[j], depth, j);
      y = y > lowest ? y : lowest;
      y = y < highest ? y : highest;
      // y - whole is exact; adding 0.5 before truncation would round 0.49999997 up.
      int32_t whole = static_cast<int32_t>(y);
      const float rest = y - static_cast<float>(whole);
      whole += static_cast<int32_t>(rest >= 0.5f) - static_cast<int32_t>(rest <= -0.5f);
      out[j] = static_cast<int8_t>(whole + args.zero_point);
    }
  }
}

void ToBits(const TransformArgs& given) {
  const TransformArgs args = given;
  for (size_t i = 0; i < args.rows; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int32_t depth = args.depth[i];
    PackRow(
        args.channels, [&](size_t j) { return depth - 2 * acc[j] < args.dot_limit[j]; },
        OutRow<uint32_t>(args, i));
  }
}

void BitpackFloatRows(const float* in, size_t rows, size_t channels, uint32_t* out) {
  for (size_t i = 0; i < rows; ++i, in += channels, out += PackedWords(channels)) {
    // x < 0 in integers: from the smallest denormal below zero to minus infinity. A comparison of
    // floats would depend on whether the thread flushes denormals to zero.
    const auto is_negative = [in](size_t c) {
      uint32_t bits;
      std::memcpy(&bits, in + c, sizeof(bits));
      return bits - 0x80000001u <= 0xff800000u - 0x80000001u;
    };
    PackRow(channels, is_negative, out);
  }
}

void BitpackInt8Rows(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                     uint32_t* out) {
  for (size_t i = 0; i < rows; ++i, in += channels, out += PackedWords(channels)) {
    PackRow(
        channels, [&](size_t c) { return in[c] < zero_point; }, out);
  }
}

void BitpackBoolRows(const uint8_t* in, size_t rows, size_t channels, uint32_t* out) {
  for (size_t i = 0; i < rows; ++i, in += channels, out += PackedWords(channels)) {
    PackRow(
        channels, [in](size_t c) { return in[c] == 0; }, out);
  }
}

template <typename T>
inline void UnpackRows(const uint32_t* in, size_t rows, size_t channels, T plus, T minus, T* out) {
  for (size_t i = 0; i < rows; ++i, in += PackedWords(channels), out += channels) {
    for (size_t c = 0; c < channels; ++c) {
      out[c] = (in[c / kPackBits] >> (c % kPackBits)) & 1 ? minus : plus;
    }
  }
}

void UnpackFloatRows(const uint32_t* in, size_t rows, size_t channels, float* out) {
  UnpackRows(in, rows, channels, 1.0f, -1.0f, out);
}

void UnpackInt8Rows(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                    int8_t* out) {
  UnpackRows(in, rows, channels, plus, minus, out);
}

void UnpackBoolRows(const uint32_t* in, size_t rows, size_t channels, uint8_t* out) {
  UnpackRows<uint8_t>(in, rows, channels, 1, 0, out);
}

void MaxBits(const uint32_t* in, size_t words, uint32_t* inout) {
  for (size_t i = 0; i < words; ++i) inout[i] &= in[i];  // 1 is -1
}

void MaxFloat(const float* in, size_t count, float* inout) {
  for (size_t i = 0; i < count; ++i) inout[i] = in[i] > inout[i] ? in[i] : inout[i];
}

void Add(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(a[i] + b[i], range);
}

void Multiply(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(a[i] * b[i], range);
}

void AddChannels(const float* a, const float* b, size_t rows, size_t channels, FloatRange range,
                 float* out) {
  for (size_t i = 0; i < rows; ++i) Add(a + i * channels, b, channels, range, out + i * channels);
}

void MultiplyChannels(const float* a, const float* b, size_t rows, size_t channels,
                      FloatRange range, float* out) {
  for (size_t i = 0; i < rows; ++i) {
    Multiply(a + i * channels, b, channels, range, out + i * channels);
  }
}

void ClampAll(const float* in, size_t count, FloatRange range, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(in[i], range);
}

void Prelu(const float* in, const float* slopes, size_t rows, size_t channels, float* out) {
  for (size_t i = 0; i < rows; ++i, in += channels, out += channels) {
    for (size_t c = 0; c < channels; ++c) out[c] = in[c] < 0.0f ? in[c] * slopes[c] : in[c];
  }
}

constexpr PixelOps kPixelOpsLoops = {
    .to_float = ToFloat,
    .to_int8 = ToInt8,
    .to_bits = ToBits,
    .bitpack_float = BitpackFloatRows,
    .bitpack_int8 = BitpackInt8Rows,
    .bitpack_bool = BitpackBoolRows,
    .unpack_float = UnpackFloatRows,
    .unpack_int8 = UnpackInt8Rows,
    .unpack_bool = UnpackBoolRows,
    .max_bits = MaxBits,
    .max_float = MaxFloat,
    .add = Add,
    .multiply = Multiply,
    .add_channels = AddChannels,
    .multiply_channels = MultiplyChannels,
    .clamp = ClampAll,
    .prelu = Prelu,
};

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXEL_OPS_LOOPS_H_
