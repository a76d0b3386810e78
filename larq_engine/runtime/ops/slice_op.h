// SPLIT, SPLIT_V, SLICE and STRIDED_SLICE of the host, on floats, bytes and bits. Each takes a box
// out of a tensor; a node that makes several tensors becomes one operator for each.
#ifndef LARQ_ENGINE_RUNTIME_OPS_SLICE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_SLICE_OP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct SliceOp {
  static constexpr size_t kMaxDims = 6;
  // Limits the outputs of a SPLIT_V, whose sizes are read once for each output.
  static constexpr size_t kMaxSizes = 1024;

  enum Form : uint8_t { kSplit, kSplitV, kSlice, kStridedSlice };

  // A place along a dimension whose size a resize may change: size * part / parts + offset.
  struct Bound {
    int64_t part = 0;
    int64_t parts = 1;
    int64_t offset = 0;
    bool operator==(const Bound&) const = default;
  };
  struct Axis {
    Bound begin = {};
    Bound end = {.part = 1};
  };
  struct Range {
    int64_t begin;
    int64_t end;
  };

  size_t data_input;
  size_t element_bytes;
  std::vector<Axis> axes;      // for all dimensions
  bool clamps = false;         // cuts off what is outside, rather than fail
  std::optional<Range> whole;  // the dimension `begin` must have the size `end`

  static bool CanClaim(const OpInfo& op, Form form);
  static SliceOp Read(const OpInfo& op, Form form);
  std::vector<size_t> DataInputs() const { return {data_input}; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Tells whether it may leave the first dimension not whole.
  bool MixesSamples() const;

  // Returns the ranges of an input of this shape. Throws OpError if it does not fit.
  std::vector<Range> Ranges(const std::vector<int>& dims) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_SLICE_OP_H_
