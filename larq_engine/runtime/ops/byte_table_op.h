// Operators of the host that make a byte of a byte, whatever its place: QUANTIZE from one scale to
// another, RELU and its kin, LOGISTIC and TANH.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BYTE_TABLE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_BYTE_TABLE_OP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct ByteTableOp {
  static constexpr size_t kRankOfRows = 1;

  std::array<uint8_t, 256> table;  // indexed by the input's byte, also if that is an int8

  static bool CanClaimRescale(const OpInfo& op);
  static ByteTableOp ReadRescale(const OpInfo& op);
  // RELU and RELU6 on int8.
  static bool CanClaimClamp(const OpInfo& op, Activation activation);
  static ByteTableOp ReadClamp(const OpInfo& op, Activation activation);
  // LOGISTIC and TANH on int8.
  static bool CanClaimLogistic(const OpInfo& op);
  static ByteTableOp ReadLogistic(const OpInfo& op);
  static bool CanClaimTanh(const OpInfo& op);
  static ByteTableOp ReadTanh(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BYTE_TABLE_OP_H_
