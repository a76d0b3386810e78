#include "larq_engine/kernels/bitpack.h"

#include <algorithm>
#include <bit>

#include "larq_engine/kernels/bits.h"

namespace larq_engine {
namespace {

template <typename T, typename IsNegative>
void Bitpack(const T* in, size_t rows, size_t channels, uint32_t* out, IsNegative is_negative) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < channels; c += kWordBits) {
      const size_t count = std::min(kWordBits, channels - c);
      uint8_t negative[kWordBits] = {};
      if (count == kWordBits) {
        for (size_t i = 0; i < kWordBits; ++i) negative[i] = is_negative(in[i]);
      } else {
        for (size_t i = 0; i < count; ++i) negative[i] = is_negative(in[i]);
      }
      in += count;
      *out++ = PackWord(negative);
    }
  }
}

template <typename T>
void Unpack(const uint32_t* in, size_t rows, size_t channels, T plus, T minus, T* out) {
  const size_t words = WordsFor(channels);
  for (size_t r = 0; r < rows; ++r, in += words, out += channels) {
    for (size_t c = 0; c < channels; ++c) {
      out[c] = (in[c / kWordBits] >> (c % kWordBits)) & 1 ? minus : plus;
    }
  }
}

}  // namespace

void BitpackFloat(const float* in, size_t rows, size_t channels, uint32_t* out) {
  // x < 0 in integers: from the smallest denormal below zero to minus infinity. A comparison of
  // floats would depend on whether the thread flushes denormals to zero.
  Bitpack(in, rows, channels, out, [](float x) {
    return std::bit_cast<uint32_t>(x) - 0x80000001u <= 0xff800000u - 0x80000001u;
  });
}

void BitpackInt8(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                 uint32_t* out) {
  Bitpack(in, rows, channels, out, [zero_point](int8_t x) { return x < zero_point; });
}

void BitpackBool(const bool* in, size_t rows, size_t channels, uint32_t* out) {
  // Read as bytes: a file may hold any byte where a bool is declared.
  const auto* bytes = reinterpret_cast<const uint8_t*>(in);
  Bitpack(bytes, rows, channels, out, [](uint8_t x) { return x == 0; });
}

void UnpackFloat(const uint32_t* in, size_t rows, size_t channels, float* out) {
  Unpack(in, rows, channels, 1.0f, -1.0f, out);
}

void UnpackInt8(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                int8_t* out) {
  Unpack(in, rows, channels, plus, minus, out);
}

void UnpackBool(const uint32_t* in, size_t rows, size_t channels, bool* out) {
  Unpack(in, rows, channels, true, false, out);
}

}  // namespace larq_engine
