#include "larq_engine/runtime/model/constant_floats.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {
namespace {

// Returns the number that IEEE's float16 has these bits for.
float FromHalf(uint16_t bits) {
  constexpr int kFractionBits = 10;
  constexpr int kSpecial = 0x1f;  // the exponent of infinities and NaN
  constexpr int kBias = 15;
  const int exponent = bits >> kFractionBits & kSpecial;
  const int fraction = bits & ((1 << kFractionBits) - 1);
  const bool is_normal = exponent != 0;
  float value = std::ldexp(static_cast<float>(fraction + (is_normal ? 1 << kFractionBits : 0)),
                           (is_normal ? exponent : 1) - kBias - kFractionBits);
  if (exponent == kSpecial) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  }
  return bits >> 15 != 0 ? -value : value;
}

}  // namespace

std::optional<AlignedBuffer<uint8_t>> ConstantFloats(const OpInfo& op) {
  if (op.inputs.size() != 1 || op.output.type != ElementType::kFloat32) return std::nullopt;
  const TensorInfo& input = op.inputs[0];
  if (!input.present || input.type != ElementType::kFloat16 || input.constant == nullptr) {
    return std::nullopt;
  }
  CheckConstant(input, "input", sizeof(uint16_t));
  const size_t count = input.bytes / sizeof(uint16_t);
  AlignedBuffer<uint8_t> made(count * sizeof(float));
  auto* out = reinterpret_cast<float*>(made.data());
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, static_cast<const std::byte*>(input.constant) + i * sizeof(bits),
                sizeof(bits));
    out[i] = FromHalf(bits);
  }
  return made;
}

}  // namespace larq_engine
