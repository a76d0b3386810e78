// FULLY_CONNECTED of the host, on floats.
#ifndef LARQ_ENGINE_RUNTIME_OPS_DENSE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_DENSE_OP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct DenseShape {
  int depth;
  int units;
  bool keeps_dims;  // keeps the input's dimensions but the last; else the output is [rows][units]

  TensorShape Output(const TensorShape& input) const;

  // If dimensions are kept, an input of one dimension is a row.
  std::optional<size_t> RankOfRows() const { return keeps_dims ? 2 : 1; }

  // Tells whether there are as few weights as in a gate.
  bool HasFewWeights() const { return int64_t{depth} * units <= kFewWeights; }

  // RealToBinaryNet's gates have 512 x 64 weights at most: there the host's call takes 15 us, of
  // which 2 are for the products.
  static constexpr int64_t kFewWeights = 1 << 16;
};

struct DenseOp : DenseShape {
  Activation activation;
  ConstantValues<float> weights;  // [units][depth]
  std::vector<float> bias;        // one for each unit

  // Tells whether the weights are so many that the host is no slower than the CPU's kernel.
  static bool IsHostsOnCpu(const OpInfo& op);

  static bool CanClaim(const OpInfo& op);
  static DenseOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const { return Output(inputs[0]); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_DENSE_OP_H_
