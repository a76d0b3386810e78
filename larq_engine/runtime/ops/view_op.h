// Operators that move elements of one tensor to other places and compute nothing: TRANSPOSE,
// EXPAND_DIMS, SQUEEZE, RESHAPE, BROADCAST_TO, TILE, UNPACK, STRIDED_SLICE, GATHER, MIRROR_PAD,
// DEPTH_TO_SPACE, SPACE_TO_DEPTH, RESIZE_NEAREST_NEIGHBOR and REVERSE_V2.
#ifndef LARQ_ENGINE_RUNTIME_OPS_VIEW_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_VIEW_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct ViewOp {
  enum Form : uint8_t {
    kTranspose,
    kExpandDims,
    kSqueeze,
    kReshape,
    kBroadcastTo,
    kTile,
    kUnpack,
    kStridedSlice,
    kGather,
    kMirrorPad,
    kDepthToSpace,
    kSpaceToDepth,
    kResizeNearest,
    kReverse,
  };
  static constexpr size_t kMaxDims = 8;

  // A dimension of a STRIDED_SLICE's result, or of its input.
  struct Cut {
    enum Kind : uint8_t { kRange, kWhole, kNew, kOne };
    Kind kind = kRange;
    int begin = 0;
    int end = 0;  // or, if `end_is_length`, how far it is from the begin
    int stride = 1;
    bool from_start = false;  // `begin` does not count
    bool to_end = false;      // `end` does not count
    bool end_is_length = false;
  };

  // A dimension of the elements in the order of the output: places in the input, counted in
  // elements.
  struct Axis {
    int64_t count;
    int64_t stride;
    std::vector<int64_t> places = {};  // of each index, if they are not multiples of `stride`

    int64_t Place(int64_t index) const {
      return places.empty() ? index * stride : places[static_cast<size_t>(index)];
    }
  };
  struct View {
    std::vector<int> shape;
    std::vector<Axis> axes;  // as many elements as `shape` has
    int64_t first = 0;       // place of the first element
  };

  Form form;
  size_t element_bytes;
  // The order of axes; the axes to add, to remove or to reverse; the shape; the repetitions; the
  // axis; the indices; the pads, two for each dimension; or the size of blocks or images.
  std::vector<int> numbers = {};
  std::vector<Cut> cuts = {};
  int axis = 0;  // for GATHER and UNPACK
  int part = 0;  // for UNPACK: which one of `parts`
  int parts = 0;
  bool is_scalar = false;       // for GATHER: a single index removes the axis
  bool repeats_edge = false;    // for MIRROR_PAD
  bool aligns_corners = false;  // for RESIZE_NEAREST_NEIGHBOR
  bool has_pixel_centers = false;

  static bool CanClaim(const OpInfo& op, Form form);
  static ViewOp Read(const OpInfo& op, Form form);

  // Throws OpError if the operator cannot take the shape.
  View Of(const std::vector<int>& dims) const;
  // Tells whether the output has the input's elements in the input's order.
  bool KeepsOrder(const std::vector<int>& dims) const;
  TensorShape Shape(std::span<const TensorShape> inputs) const;
  // Tells whether a sample, along axis 0, may move to another place of the batch.
  bool MixesSamples() const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_VIEW_OP_H_
