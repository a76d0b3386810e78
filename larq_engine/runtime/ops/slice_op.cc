#include "larq_engine/runtime/ops/slice_op.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

using Bound = SliceOp::Bound;

Bound FromBegin(int64_t offset) { return {.offset = offset}; }
Bound FromEnd(int64_t offset) { return {.part = 1, .offset = -offset}; }

bool CanBeCut(const TensorInfo& tensor) {
  return IsMovable(tensor) && tensor.dims.size() <= SliceOp::kMaxDims;
}

// Returns a slice that is the whole tensor, for callers to narrow. Returns nothing if the number of
// inputs differs, or if input `data` or the output cannot be cut.
std::optional<SliceOp> ReadWhole(const OpInfo& op, size_t inputs, size_t data) {
  if (op.inputs.size() != inputs || !CanBeCut(op.inputs[data]) || !CanBeCut(op.output) ||
      op.output.type != op.inputs[data].type ||
      op.output.dims.size() != op.inputs[data].dims.size()) {
    return std::nullopt;
  }
  return SliceOp{.data_input = data,
                 .element_bytes = ElementBytes(op.output.type),
                 .axes = std::vector<SliceOp::Axis>(op.inputs[data].dims.size()),
                 .whole = std::nullopt};
}

std::optional<size_t> ReadAxis(const TensorInfo& tensor, size_t rank) {
  const std::vector<int> values = ReadInts(tensor);
  return values.size() == 1 ? AxisFromFront(values[0], rank) : std::nullopt;
}

std::optional<SliceOp> ReadSplit(const OpInfo& op) {
  std::optional<SliceOp> read = ReadWhole(op, 2, 1);
  if (!read) return std::nullopt;
  const std::optional<size_t> axis = ReadAxis(op.inputs[0], read->axes.size());
  if (!axis) return std::nullopt;
  const auto number = static_cast<int64_t>(op.output_number);
  const auto parts = static_cast<int64_t>(op.outputs);
  read->axes[*axis] = {.begin = {.part = number, .parts = parts},
                       .end = {.part = number + 1, .parts = parts}};
  return read;
}

std::optional<SliceOp> ReadSplitV(const OpInfo& op) {
  std::optional<SliceOp> read = ReadWhole(op, 3, 0);
  if (!read || op.outputs > SliceOp::kMaxSizes) return std::nullopt;
  const std::vector<int> sizes = ReadInts(op.inputs[1]);
  const std::optional<size_t> axis = ReadAxis(op.inputs[2], read->axes.size());
  const auto open = std::find(sizes.begin(), sizes.end(), -1);  // it takes what is left
  const auto is_size = [](int size) { return size >= 0; };
  if (!axis || sizes.size() != op.outputs || !std::all_of(sizes.begin(), open, is_size) ||
      (open != sizes.end() && !std::all_of(open + 1, sizes.end(), is_size))) {
    return std::nullopt;
  }
  const auto bound = [&](size_t outputs_before) {
    const auto at = sizes.begin() + static_cast<ptrdiff_t>(outputs_before);
    if (at <= open) return FromBegin(std::accumulate(sizes.begin(), at, int64_t{0}));
    return FromEnd(std::accumulate(at, sizes.end(), int64_t{0}));
  };
  read->axes[*axis] = {.begin = bound(op.output_number), .end = bound(op.output_number + 1)};
  if (open == sizes.end()) {
    read->whole = {.begin = static_cast<int64_t>(*axis), .end = bound(sizes.size()).offset};
  }
  return read;
}

std::optional<SliceOp> ReadSlice(const OpInfo& op) {
  std::optional<SliceOp> read = ReadWhole(op, 3, 0);
  if (!read) return std::nullopt;
  const std::vector<int> begin = ReadInts(op.inputs[1]);
  const std::vector<int> size = ReadInts(op.inputs[2]);
  if (begin.size() != read->axes.size() || size.size() != begin.size()) return std::nullopt;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || size[i] < -1) return std::nullopt;
    read->axes[i].begin = FromBegin(begin[i]);
    if (size[i] >= 0) read->axes[i].end = FromBegin(int64_t{begin[i]} + size[i]);
  }
  return read;
}

std::optional<SliceOp> ReadStridedSlice(const OpInfo& op) {
  std::optional<SliceOp> read = ReadWhole(op, 4, 0);
  if (!read || !op.builtin_options.strided_slice.has_value()) return std::nullopt;
  const std::vector<int> begin = ReadInts(op.inputs[1]);
  const std::vector<int> end = ReadInts(op.inputs[2]);
  const std::vector<int> strides = ReadInts(op.inputs[3]);
  const size_t dims = read->axes.size();
  if (begin.size() != dims || end.size() != dims || strides != std::vector<int>(dims, 1)) {
    return std::nullopt;
  }
  const auto bound = [](int at) { return at < 0 ? FromEnd(-int64_t{at}) : FromBegin(at); };
  for (size_t i = 0; i < dims; ++i) {
    if ((op.builtin_options.strided_slice->begin_mask >> i & 1) == 0) {
      read->axes[i].begin = bound(begin[i]);
    }
    if ((op.builtin_options.strided_slice->end_mask >> i & 1) == 0)
      read->axes[i].end = bound(end[i]);
  }
  read->clamps = true;
  return read;
}

std::optional<SliceOp> TryRead(const OpInfo& op, SliceOp::Form form) {
  switch (form) {
    case SliceOp::kSplit:
      return ReadSplit(op);
    case SliceOp::kSplitV:
      return ReadSplitV(op);
    case SliceOp::kSlice:
      return ReadSlice(op);
    case SliceOp::kStridedSlice:
      return ReadStridedSlice(op);
  }
  return std::nullopt;
}

}  // namespace

bool SliceOp::CanClaim(const OpInfo& op, Form form) { return TryRead(op, form).has_value(); }

// An operator that could be claimed can be read, unless its input has other dimensions by now.
SliceOp SliceOp::Read(const OpInfo& op, Form form) {
  std::optional<SliceOp> read = TryRead(op, form);
  if (!read) {
    const size_t data = form == kSplit ? 1 : 0;
    const std::string got =
        data < op.inputs.size() ? DimsString(op.inputs[data].dims) : std::string("none");
    throw OpError("input: expected a shape with as many dimensions as the file says, got " + got +
                  "; resize the input to what the model takes");
  }
  return *std::move(read);
}

bool SliceOp::MixesSamples() const {
  const SliceOp::Axis& samples = axes[0];
  return samples.begin != Bound{} || samples.end != Bound{.part = 1} ||
         (whole.has_value() && whole->begin == 0);
}

std::vector<SliceOp::Range> SliceOp::Ranges(const std::vector<int>& dims) const {
  CheckRank(dims, "input", axes.size());
  std::vector<Range> ranges;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = dims[i];
    const auto at = [&](const Bound& bound) {
      return size * bound.part / bound.parts + bound.offset;
    };
    Range range{at(axes[i].begin), at(axes[i].end)};
    if (clamps) {
      range.begin = std::clamp<int64_t>(range.begin, 0, size);
      range.end = std::clamp<int64_t>(range.end, range.begin, size);
    }
    const bool is_divided = size % axes[i].begin.parts == 0;
    const bool is_whole =
        !whole.has_value() || whole->begin != static_cast<int64_t>(i) || whole->end == size;
    if (!is_divided || !is_whole || range.begin < 0 || range.end < range.begin ||
        range.end > size) {
      throw OpError("input: expected a shape whose dimension " + std::to_string(i) +
                    " can be cut as the file says, got " + DimsString(dims) +
                    "; resize the input to what the model takes");
    }
    ranges.push_back(range);
  }
  return ranges;
}

TensorShape SliceOp::Shape(std::span<const TensorShape> inputs) const {
  TensorShape shape{.dims = inputs[0].dims};
  const std::vector<Range> ranges = Ranges(shape.dims);
  for (size_t i = 0; i < ranges.size(); ++i) {
    shape.dims[i] = static_cast<int>(ranges[i].end - ranges[i].begin);
  }
  CountElements(shape.dims, shape.dims.size());
  if (inputs[0].channels > 0 && inputs[0].bits == 1) {  // the slice moves whole words
    constexpr auto kWord = static_cast<int64_t>(kWordBits);
    shape.channels = std::clamp<int64_t>(inputs[0].channels - ranges.back().begin * kWord, 0,
                                         shape.dims.back() * kWord);
  }
  return shape;
}

}  // namespace larq_engine
