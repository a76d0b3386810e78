// ADD, SUB, MUL, RELU and its kin, PRELU, LOGISTIC of the host: each value by itself.
#ifndef LARQ_ENGINE_RUNTIME_OPS_ELEMENTWISE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_ELEMENTWISE_OP_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/runtime/ops/quantize_limits.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Two tensors, or a tensor and a constant that is one value or one for each channel.
struct BinaryOp {
  ChannelOp::Kind kind;
  Activation activation;
  std::vector<size_t> data_inputs;
  std::vector<float> constant = {};  // as the file has it; nothing of two tensors

  static bool CanClaim(const OpInfo& op);
  static BinaryOp Read(const OpInfo& op, ChannelOp::Kind kind);

  // Of a tensor less a constant, which is the tensor plus the negated constant, to the bit.
  static bool CanClaimDifference(const OpInfo& op);
  static BinaryOp ReadDifference(const OpInfo& op);

  std::vector<size_t> DataInputs() const { return data_inputs; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Whether each value is made of one in the same place, and of one of its channel or one in the
  // same place.
  bool IsAlike(std::span<const TensorShape> inputs) const;

  // Of the two, in the file's order, with one value of the constant for each channel of an input of
  // this shape.
  std::vector<std::vector<int>> OperandDims(std::span<const TensorShape> inputs) const;
};

struct ClampOp {
  Activation activation;

  static bool CanClaim(const OpInfo& op);
  static ClampOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

struct PreluOp {
  std::vector<float> slopes;  // as the file has it: one, or one for each channel

  static bool CanClaim(const OpInfo& op);
  static PreluOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

struct LogisticOp {
  bool for_other_devices;

  // Where it is not of rows, as gates are: the host takes many of them at once.
  static bool IsForOtherDevices(const OpInfo& op);

  static bool CanClaim(const OpInfo& op);
  static LogisticOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// The size of the last dimension; 1 of a scalar.
int Channels(const std::vector<int>& dims);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_ELEMENTWISE_OP_H_
