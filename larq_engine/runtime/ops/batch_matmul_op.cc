#include "larq_engine/runtime/ops/batch_matmul_op.h"

#include <utility>

#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {
namespace {

struct Matrix {
  int rows;
  int columns;
};

Matrix MatrixOf(const std::vector<int>& dims, bool is_transposed) {
  Matrix matrix = {.rows = dims[dims.size() - 2], .columns = dims.back()};
  if (is_transposed) std::swap(matrix.rows, matrix.columns);
  return matrix;
}

std::vector<int> WithoutMatrix(const std::vector<int>& dims) {
  return {dims.begin(), dims.end() - 2};
}

}  // namespace

bool BatchMatmulOp::CanClaim(const OpInfo& op) {
  return op.inputs.size() == 2 && ValueTypeOf(op.inputs[0]) == ValueType::kFloat32 &&
         ValueTypeOf(op.inputs[1]) == ValueType::kFloat32 &&
         ValueTypeOf(op.output) == ValueType::kFloat32;
}

BatchMatmulOp BatchMatmulOp::Read(const OpInfo& op) {
  return {.left_is_transposed = op.builtin_options.file.transpose_left,
          .right_is_transposed = op.builtin_options.file.transpose_right};
}

int BatchMatmulOp::Depth(const std::vector<int>& left) const {
  return MatrixOf(left, left_is_transposed).columns;
}

TensorShape BatchMatmulOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& left = inputs[0].dims;
  const std::vector<int>& right = inputs[1].dims;
  CountElements(left, left.size());
  CountElements(right, right.size());
  const bool are_matrices = left.size() >= 2 && right.size() >= 2;
  if (!are_matrices || Depth(left) != MatrixOf(right, right_is_transposed).rows) {
    throw OpError("inputs: expected matrices whose product exists, got shapes " + DimsString(left) +
                  " and " + DimsString(right) + "; resize the model's inputs to shapes that fit");
  }
  std::vector<int> dims = BroadcastShape(WithoutMatrix(left), WithoutMatrix(right));
  dims.push_back(MatrixOf(left, left_is_transposed).rows);
  dims.push_back(MatrixOf(right, right_is_transposed).columns);
  return CheckedShape(dims);
}

}  // namespace larq_engine
