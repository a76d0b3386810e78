#include "larq_engine/benchmark_model/tensor_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace larq_engine {
namespace {

// IEEE 754 half precision: 1 sign, 5 exponent, 10 mantissa bits. C++20 has no type for it.
struct Half {
  uint16_t bits;
};

double ToDouble(Half half) {
  const int exponent = half.bits >> 10 & 31;
  const int mantissa = half.bits & 1023;
  double value =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return half.bits >> 15 != 0 ? -value : value;
}

template <typename Number>
double ToDouble(Number number) {
  return static_cast<double>(number);
}

// SplitMix64 of Steele, Lea and Flood, which is three lines long and works well with every seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  // Returns a number from -1 to 1 in steps of 2^-bits, which is exact in a float of that many
  // mantissa bits.
  double Next(int bits) {
    const int64_t steps = int64_t{1} << bits;
    return std::ldexp(static_cast<double>(static_cast<int64_t>(Next() >> (63 - bits)) - steps),
                      -bits);
  }

 private:
  uint64_t state_;
};

Half DrawHalf(Random& random) {
  // Numbers from 0.5 to 1 and from -1 to -0.5.
  const uint64_t bits = random.Next();
  return {static_cast<uint16_t>((bits & 0x83FF) | 14 << 10)};
}

template <typename Element, typename Draw>
void Fill(std::span<uint8_t> data, Draw draw) {
  for (size_t i = 0; i + sizeof(Element) <= data.size(); i += sizeof(Element)) {
    const Element element = draw();
    std::memcpy(&data[i], &element, sizeof(Element));
  }
}

template <typename Element>
Difference CompareAs(std::span<const uint8_t> got, std::span<const uint8_t> expected,
                     double tolerance) {
  Difference difference;
  for (size_t i = 0; (i + 1) * sizeof(Element) <= got.size(); ++i) {
    Element a;
    Element b;
    std::memcpy(&a, &got[i * sizeof(Element)], sizeof(Element));
    std::memcpy(&b, &expected[i * sizeof(Element)], sizeof(Element));
    if (std::memcmp(&a, &b, sizeof(Element)) == 0) continue;
    double distance = std::abs(ToDouble(a) - ToDouble(b));
    if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
    difference.largest = std::max(difference.largest, distance);
    // Without a tolerance 0 and -0 differ too.
    if (distance <= tolerance && tolerance > 0) continue;
    if (difference.values++ == 0) difference.first = i;
  }
  return difference;
}

}  // namespace

std::string ElementName(LiteRtElementType type) {
  switch (type) {
    case kLiteRtElementTypeFloat32:
      return "float32";
    case kLiteRtElementTypeInt32:
      return "int32";
    case kLiteRtElementTypeUInt8:
      return "uint8";
    case kLiteRtElementTypeInt64:
      return "int64";
    case kLiteRtElementTypeBool:
      return "bool";
    case kLiteRtElementTypeInt16:
      return "int16";
    case kLiteRtElementTypeInt8:
      return "int8";
    case kLiteRtElementTypeFloat16:
      return "float16";
    case kLiteRtElementTypeFloat64:
      return "float64";
    case kLiteRtElementTypeUInt64:
      return "uint64";
    case kLiteRtElementTypeUInt32:
      return "uint32";
    case kLiteRtElementTypeUInt16:
      return "uint16";
  }
  return "type " + std::to_string(static_cast<int>(type));
}

size_t ElementSize(LiteRtElementType type) {
  switch (type) {
    case kLiteRtElementTypeUInt8:
    case kLiteRtElementTypeInt8:
    case kLiteRtElementTypeBool:
      return 1;
    case kLiteRtElementTypeInt16:
    case kLiteRtElementTypeUInt16:
    case kLiteRtElementTypeFloat16:
      return 2;
    case kLiteRtElementTypeFloat32:
    case kLiteRtElementTypeInt32:
    case kLiteRtElementTypeUInt32:
      return 4;
    case kLiteRtElementTypeFloat64:
    case kLiteRtElementTypeInt64:
    case kLiteRtElementTypeUInt64:
      return 8;
  }
  return 0;
}

void FillRandom(LiteRtElementType type, uint64_t seed, std::span<uint8_t> data) {
  Random random(seed);
  switch (type) {
    case kLiteRtElementTypeFloat32:
      return Fill<float>(data, [&] { return static_cast<float>(random.Next(23)); });
    case kLiteRtElementTypeFloat64:
      return Fill<double>(data, [&] { return random.Next(23); });
    case kLiteRtElementTypeFloat16:
      return Fill<Half>(data, [&] { return DrawHalf(random); });
    case kLiteRtElementTypeUInt8:
    case kLiteRtElementTypeInt8:
    case kLiteRtElementTypeInt16:
    case kLiteRtElementTypeUInt16:
      return Fill<uint8_t>(data, [&] { return static_cast<uint8_t>(random.Next() >> 56); });
    case kLiteRtElementTypeBool:
      return Fill<uint8_t>(data, [&] { return static_cast<uint8_t>(random.Next() >> 63); });
    case kLiteRtElementTypeInt32:
    case kLiteRtElementTypeUInt32:
      return Fill<uint32_t>(data, [&] { return static_cast<uint32_t>(random.Next() >> 63); });
    case kLiteRtElementTypeInt64:
    case kLiteRtElementTypeUInt64:
      return Fill<uint64_t>(data, [&] { return random.Next() >> 63; });
  }
}

Difference Compare(LiteRtElementType type, std::span<const uint8_t> got,
                   std::span<const uint8_t> expected, double tolerance) {
  switch (type) {
    case kLiteRtElementTypeFloat32:
      return CompareAs<float>(got, expected, tolerance);
    case kLiteRtElementTypeFloat64:
      return CompareAs<double>(got, expected, tolerance);
    case kLiteRtElementTypeFloat16:
      return CompareAs<Half>(got, expected, tolerance);
    case kLiteRtElementTypeInt8:
      return CompareAs<int8_t>(got, expected, tolerance);
    case kLiteRtElementTypeInt16:
      return CompareAs<int16_t>(got, expected, tolerance);
    case kLiteRtElementTypeUInt16:
      return CompareAs<uint16_t>(got, expected, tolerance);
    case kLiteRtElementTypeInt32:
      return CompareAs<int32_t>(got, expected, tolerance);
    case kLiteRtElementTypeUInt32:
      return CompareAs<uint32_t>(got, expected, tolerance);
    case kLiteRtElementTypeInt64:
      return CompareAs<int64_t>(got, expected, tolerance);
    case kLiteRtElementTypeUInt64:
      return CompareAs<uint64_t>(got, expected, tolerance);
    case kLiteRtElementTypeUInt8:
    case kLiteRtElementTypeBool:
      break;
  }
  return CompareAs<uint8_t>(got, expected, tolerance);
}

}  // namespace larq_engine
