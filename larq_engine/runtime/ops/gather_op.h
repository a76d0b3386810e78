// GATHER and GATHER_ND of the host, by indices that are computed when the model runs. Forms of
// GATHER with constant indices are views (view_op.h).
#ifndef LARQ_ENGINE_RUNTIME_OPS_GATHER_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_GATHER_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct GatherOp {
  enum Form : uint8_t { kGather, kGatherNd };

  // The rows that are moved: all elements that an index leaves. A row of the data is found by one
  // index of each of `sizes`.
  struct Rows {
    std::vector<int> shape;        // of the output
    int64_t elements = 1;          // of a row
    std::vector<int> sizes;        // dimensions that indices count, outermost first
    int64_t repeats = 1;           // parts of a batch's data that its indices are used for
    int64_t indices_of_batch = 1;  // rows of such a part of the output
  };

  Form form;
  size_t element_bytes;
  bool has_long_indices;  // int64, not int32
  int axis = 0;           // for GATHER, as are the batch's dimensions
  int batch_dims = 0;

  static bool CanClaim(const OpInfo& op, Form form);
  static GatherOp Read(const OpInfo& op, Form form);
  std::vector<size_t> DataInputs() const { return {0, 1}; }
  // Throws OpError if the shapes do not fit each other.
  Rows Of(const std::vector<int>& data, const std::vector<int>& indices) const;
  TensorShape Shape(std::span<const TensorShape> inputs) const;
  bool MixesSamples() const { return true; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_GATHER_OP_H_
