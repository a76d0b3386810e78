// ADD, SUB, MUL, RELU and its kin, PRELU and functions of one value of the host. Each value is
// computed by itself.
#ifndef LARQ_ENGINE_RUNTIME_OPS_ELEMENTWISE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_ELEMENTWISE_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/runtime/ops/quantize_limits.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Two tensors, or a tensor and a constant that is one value or one for each channel.
struct BinaryOp {
  ChannelOp::Kind kind;
  Activation activation;
  std::vector<size_t> data_inputs;
  std::vector<float> constant = {};  // in the file's order; empty if both are tensors

  static bool CanClaim(const OpInfo& op);
  static BinaryOp Read(const OpInfo& op, ChannelOp::Kind kind);

  // Both concern a tensor minus a constant, which is computed as the tensor plus the negated
  // constant: the results are identical to the bit.
  static bool CanClaimDifference(const OpInfo& op);
  static BinaryOp ReadDifference(const OpInfo& op);

  std::vector<size_t> DataInputs() const { return data_inputs; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Tells whether nothing is broadcast but a constant: each value is made of the value in the same
  // place of a tensor, and of the other tensor's in that place or of the constant for its channel.
  bool IsAlike(std::span<const TensorShape> inputs) const;

  // Returns the shapes of both operands in the file's order. The constant has one value for each
  // channel of an input of this shape.
  std::vector<std::vector<int>> OperandDims(std::span<const TensorShape> inputs) const;
};

struct ClampOp {
  Activation activation;

  static bool CanClaim(const OpInfo& op);
  static ClampOp Read(const OpInfo& op, Activation activation);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

struct PreluOp {
  std::vector<float> slopes;  // one, or one for each channel

  static bool CanClaim(const OpInfo& op);
  static PreluOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// A function of one value. What each of them is, devices know.
struct UnaryOp {
  enum Function : uint8_t { kLogistic };

  static constexpr size_t kRankOfRows = 1;

  Function function;

  // Tells whether the input is not rows, as gates have them. The host computes many rows at once.
  static bool IsHostsOnCpu(const OpInfo& op);

  static bool CanClaim(const OpInfo& op);
  static UnaryOp Read(const OpInfo& op, Function function);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_ELEMENTWISE_OP_H_
