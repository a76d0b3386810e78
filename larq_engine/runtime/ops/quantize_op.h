// LceQuantize (values to bits, one or several of each) and LceDequantize (bits to values).
#ifndef LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_OP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "larq_engine/model_file/element_type.h"
#include "larq_engine/runtime/ops/quantize_limits.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct QuantizeOp {
  ElementType from;                           // float, int8, bool or, to 8 bits, uint8
  int32_t zero_point = 0;                     // int8
  std::optional<QuantizeLimits> limits = {};  // for floats, with the operators that it absorbed

  // For several bits: see PlaneQuantizer. The limits are [2^bits - 1][limit_channels], where
  // limit_channels is the input's number of channels, or 1 for all. Bytes have no limits.
  int64_t bits = 1;
  int64_t limit_channels = 1;
  std::vector<float> plane_limits = {};

  static QuantizeOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

struct DequantizeOp {
  ElementType to;  // float, int8 or bool
  int channels;
  int8_t plus = 1;  // int8: what +1 and -1 become
  int8_t minus = -1;

  static DequantizeOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_OP_H_
