// SPLIT, SPLIT_V, SLICE and STRIDED_SLICE of the host, on floats, bytes and bits: a box out of a
// tensor. One that makes several tensors is as many operators.
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
  // Of SPLIT_V, whose sizes are read for each of them.
  static constexpr size_t kMaxSizes = 1024;

  enum Form : uint8_t { kSplit, kSplitV, kSlice, kStridedSlice };

  // A place along a dimension, whose size a resize may change: size * part / parts + offset.
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
  std::vector<Axis> axes;      // of all dimensions
  bool clamps = false;         // what is outside is left out, rather than an error
  std::optional<Range> whole;  // a dimension (begin) that must have a size (end)

  static bool CanClaim(const OpInfo& op, Form form);
  static SliceOp Read(const OpInfo& op, Form form);
  std::vector<size_t> DataInputs() const { return {data_input}; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Whether it does not cut the first dimension, however large that is.
  bool TakesAllSamples() const;

  // Of an input of this shape. Throws OpError where it has none.
  std::vector<Range> Ranges(const std::vector<int>& dims) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_SLICE_OP_H_
