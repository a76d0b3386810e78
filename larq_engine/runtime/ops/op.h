// Operators as values that know no device. A file's fields are checked where they become such a
// value and nowhere else.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "larq_engine/runtime/ops/bconv2d_op.h"
#include "larq_engine/runtime/ops/bytes_to_floats_op.h"
#include "larq_engine/runtime/ops/concatenation_op.h"
#include "larq_engine/runtime/ops/conv2d_op.h"
#include "larq_engine/runtime/ops/dense_op.h"
#include "larq_engine/runtime/ops/elementwise_op.h"
#include "larq_engine/runtime/ops/int8_conv2d_op.h"
#include "larq_engine/runtime/ops/layout_ops.h"
#include "larq_engine/runtime/ops/max_pool2d_op.h"
#include "larq_engine/runtime/ops/quantize_op.h"
#include "larq_engine/runtime/ops/reduce_ops.h"
#include "larq_engine/runtime/ops/signed_dense_op.h"
#include "larq_engine/runtime/ops/slice_op.h"

namespace larq_engine {

// Each type has `Read`, which checks what a file says, and `Shape`, which returns the output's
// shape for those of the data inputs. Both throw OpError.
using Op =
    std::variant<QuantizeOp, DequantizeOp, Bconv2dOp, MaxPool2dOp, BinaryOp, ClampOp, PreluOp,
                 ConcatenationOp, UnaryOp, Conv2dOp, DenseOp, AveragePool2dOp, MeanOp, SoftmaxOp,
                 PadOp, ReshapeOp, SliceOp, SignedDenseOp, Int8Conv2dOp, BytesToFloatsOp>;

// True for types that the host always computes best on the CPU. Such operators are claimed for GPUs
// only, so that tensors need not leave their memory. For some other types, each operator decides
// this by itself (`for_gpus_only`).
template <typename T>
inline constexpr bool kIsForGpusOnly = requires {
  T::kForGpusOnly;
};

inline bool IsForGpusOnly(const Op& op) {
  return std::visit(
      []<typename T>(const T& value) {
        if constexpr (requires { value.for_gpus_only; }) return value.for_gpus_only;
        return kIsForGpusOnly<T>;
      },
      op);
}

// Tells whether the operator computes each row by itself, so that axis 0 counts samples whatever
// the rank is.
inline bool IsOfRows(const Op& op) {
  return std::visit(
      []<typename T>(const T&) {
        return requires { T::kOfRows; };
      },
      op);
}

// The most data inputs of an operator. Concatenations of more are left to the host.
inline constexpr size_t kMaxDataInputs = 8;

// Returns which of the operator's inputs are data. The others are constants, which the operator's
// value holds.
std::vector<size_t> DataInputs(const Op& op);

TensorShape OutputShape(const Op& op, std::span<const TensorShape> inputs);

// Counts the products of a layer in one run, whatever they are of; 0 for other operators.
int64_t Macs(const Op& op, const TensorShape& output);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_H_
