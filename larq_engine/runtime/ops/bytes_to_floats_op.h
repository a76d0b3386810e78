// CAST and DEQUANTIZE of the host, from uint8 or int8 to floats.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BYTES_TO_FLOATS_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_BYTES_TO_FLOATS_OP_H_

#include <cstdint>
#include <span>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Computes (byte - zero_point) * scale and rounds once, which gives the same float as the host.
struct BytesToFloatsOp {
  static constexpr size_t kRankOfRows = 1;

  enum Form : uint8_t { kCast, kDequantize };

  bool are_signed;
  int32_t zero_point = 0;
  float scale = 1;

  static bool CanClaim(const OpInfo& op, Form form);
  static BytesToFloatsOp Read(const OpInfo& op, Form form);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BYTES_TO_FLOATS_OP_H_
