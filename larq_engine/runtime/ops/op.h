// Operators as values that know no device. A file's fields are checked where they become such a
// value and nowhere else.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "larq_engine/runtime/ops/arg_max_op.h"
#include "larq_engine/runtime/ops/batch_matmul_op.h"
#include "larq_engine/runtime/ops/bconv2d_op.h"
#include "larq_engine/runtime/ops/bmatmul_op.h"
#include "larq_engine/runtime/ops/byte_table_op.h"
#include "larq_engine/runtime/ops/bytes_to_floats_op.h"
#include "larq_engine/runtime/ops/cast_op.h"
#include "larq_engine/runtime/ops/concatenation_op.h"
#include "larq_engine/runtime/ops/conv2d_op.h"
#include "larq_engine/runtime/ops/dense_op.h"
#include "larq_engine/runtime/ops/elementwise_op.h"
#include "larq_engine/runtime/ops/floats_to_bytes_op.h"
#include "larq_engine/runtime/ops/function_op.h"
#include "larq_engine/runtime/ops/gather_op.h"
#include "larq_engine/runtime/ops/int8_binary_op.h"
#include "larq_engine/runtime/ops/int8_conv2d_op.h"
#include "larq_engine/runtime/ops/int8_dense_op.h"
#include "larq_engine/runtime/ops/int8_mean_op.h"
#include "larq_engine/runtime/ops/int8_pool_op.h"
#include "larq_engine/runtime/ops/int8_softmax_op.h"
#include "larq_engine/runtime/ops/join_op.h"
#include "larq_engine/runtime/ops/layout_ops.h"
#include "larq_engine/runtime/ops/log_softmax_op.h"
#include "larq_engine/runtime/ops/max_pool2d_op.h"
#include "larq_engine/runtime/ops/pair_op.h"
#include "larq_engine/runtime/ops/quantize_op.h"
#include "larq_engine/runtime/ops/reduce_ops.h"
#include "larq_engine/runtime/ops/reduction_op.h"
#include "larq_engine/runtime/ops/resize_bilinear_op.h"
#include "larq_engine/runtime/ops/select_op.h"
#include "larq_engine/runtime/ops/signed_dense_op.h"
#include "larq_engine/runtime/ops/slice_op.h"
#include "larq_engine/runtime/ops/transposed_conv2d_op.h"
#include "larq_engine/runtime/ops/view_op.h"

namespace larq_engine {

// Each type has `Read`, which checks what a file says, and `Shape`, which returns the output's
// shape for those of the data inputs. Both throw OpError.
using Op =
    std::variant<QuantizeOp, DequantizeOp, Bconv2dOp, MaxPool2dOp, BinaryOp, ClampOp, PreluOp,
                 ConcatenationOp, UnaryOp, Conv2dOp, DenseOp, AveragePool2dOp, MeanOp, SoftmaxOp,
                 PadOp, ReshapeOp, SliceOp, SignedDenseOp, Int8Conv2dOp, BytesToFloatsOp,
                 FunctionOp, ViewOp, JoinOp, PairOp, SelectOp, ArgMaxOp, CastOp, FloatsToBytesOp,
                 ByteTableOp, Int8DenseOp, Int8MeanOp, Int8BinaryOp, Int8PoolOp, Int8SoftmaxOp,
                 PadBytesOp, ReductionOp, BmatmulOp, TransposedConv2dOp, Int8TransposedConv2dOp,
                 ResizeBilinearOp, BatchMatmulOp, GatherOp, PadIntsOp, LogSoftmaxOp>;

// Returns the rank from which on axis 0 counts samples, each computed by itself, if the operator
// keeps its size (`kRankOfRows` or `RankOfRows`). For other operators this is known of images alone
// (pass_values.h).
std::optional<size_t> RankOfRows(const Op& op);

// Tells whether a sample, along axis 0, may move to another place of the batch.
bool MixesSamples(const Op& op);

// The most data inputs of an operator. Concatenations of more than kMaxHostsInputs are left to a
// host.
inline constexpr size_t kMaxDataInputs = 64;
inline constexpr size_t kMaxHostsInputs = 8;

// Returns which of the operator's inputs are data. The others are constants, which the operator's
// value holds.
std::vector<size_t> DataInputs(const Op& op);

TensorShape OutputShape(const Op& op, std::span<const TensorShape> inputs);

// Counts the products of a layer in one run, whatever they are of; 0 for other operators.
int64_t Macs(const Op& op, std::span<const TensorShape> inputs, const TensorShape& output);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_H_
