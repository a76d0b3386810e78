#include "larq_engine/runtime/ops/view_op.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/layout_ops.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

using Axis = ViewOp::Axis;
using Cut = ViewOp::Cut;
using View = ViewOp::View;

[[noreturn]] void RefuseShape(const std::string& expected, const std::vector<int>& dims) {
  throw OpError("input: expected " + expected + ", got shape " + DimsString(dims) +
                "; resize the input to what the model takes");
}

// Returns the axis counted from the front. Throws OpError if there is no such axis.
size_t AxisOf(int axis, size_t rank, const std::vector<int>& dims) {
  const std::optional<size_t> found = AxisFromFront(axis, rank);
  if (!found) RefuseShape("an axis " + std::to_string(axis), dims);
  return *found;
}

// Views the tensor as it is.
View Whole(const std::vector<int>& dims) {
  View view{.shape = dims, .axes = std::vector<Axis>(dims.size())};
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    view.axes[i] = {.count = dims[i], .stride = stride};
    stride *= dims[i];
  }
  return view;
}

// Limits a list of places, which is made before the output is known to fit into memory. No image
// has more pixels in a line.
constexpr int64_t kMostPlaces = 1 << 24;

// The places of an axis whose index i has the input's index at(i).
template <typename At>
Axis Mapped(int64_t count, int64_t stride, const At& at) {
  if (count > kMostPlaces) {
    throw OpError("output: expected at most " + std::to_string(kMostPlaces) +
                  " places along an axis, got " + std::to_string(count) +
                  "; the file is corrupted, or an input was resized too far");
  }
  Axis axis{.count = count, .stride = stride};
  axis.places.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) axis.places.push_back(at(i) * stride);
  return axis;
}

View Transposed(const std::vector<int>& order, const std::vector<int>& dims) {
  const View whole = Whole(dims);
  View view{.shape = {}, .axes = {}};
  for (const int number : order) {
    const size_t axis = AxisOf(number, dims.size(), dims);
    view.shape.push_back(dims[axis]);
    view.axes.push_back(whole.axes[axis]);
  }
  return view;
}

View WithNewAxis(int axis, const std::vector<int>& dims) {
  View view = Whole(dims);
  const auto at = static_cast<ptrdiff_t>(AxisOf(axis, dims.size() + 1, dims));
  view.shape.insert(view.shape.begin() + at, 1);
  return view;
}

View Squeezed(const std::vector<int>& axes, const std::vector<int>& dims) {
  View view = Whole(dims);
  std::vector<bool> goes(dims.size());
  for (const int axis : axes) goes[AxisOf(axis, dims.size(), dims)] = true;
  view.shape.clear();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (goes[i] && dims[i] != 1) RefuseShape("dimensions of 1 to remove", dims);
    const bool stays = axes.empty() ? dims[i] != 1 : !goes[i];
    if (stays) view.shape.push_back(dims[i]);
  }
  return view;
}

View Reshaped(const std::vector<int>& shape, const std::vector<int>& dims) {
  View view = Whole(dims);
  const TensorShape input{.dims = dims};
  view.shape = ReshapeOp{.dims = shape, .element_bytes = 0}.Shape({&input, 1}).dims;
  return view;
}

View Broadcast(const std::vector<int>& shape, const std::vector<int>& dims) {
  View view = Whole(dims);
  if (dims.size() > shape.size())
    RefuseShape("at most " + std::to_string(shape.size()) + " dimensions", dims);
  const size_t added = shape.size() - dims.size();
  view.axes.insert(view.axes.begin(), added, Axis{.count = 1, .stride = 0});
  for (size_t i = 0; i < shape.size(); ++i) {
    if (view.axes[i].count == shape[i]) continue;
    if (view.axes[i].count != 1) RefuseShape("dimensions of 1 or of " + DimsString(shape), dims);
    view.axes[i] = {.count = shape[i], .stride = 0};
  }
  view.shape = shape;
  return view;
}

View Tiled(const std::vector<int>& repeats, const std::vector<int>& dims) {
  CheckRank(dims, "input", repeats.size());
  const View whole = Whole(dims);
  View view{.shape = dims, .axes = {}};
  for (size_t i = 0; i < dims.size(); ++i) {
    view.shape[i] = CheckedSize(int64_t{dims[i]} * repeats[i]);
    view.axes.push_back({.count = repeats[i], .stride = 0});
    view.axes.push_back(whole.axes[i]);
  }
  return view;
}

View PartOf(const ViewOp& op, const std::vector<int>& dims) {
  View view = Whole(dims);
  const size_t axis = AxisOf(op.axis, dims.size(), dims);
  if (dims[axis] != op.parts) {
    RefuseShape(std::to_string(op.parts) + " parts along axis " + std::to_string(axis), dims);
  }
  view.first = op.part * view.axes[axis].stride;
  view.shape.erase(view.shape.begin() + static_cast<ptrdiff_t>(axis));
  view.axes.erase(view.axes.begin() + static_cast<ptrdiff_t>(axis));
  return view;
}

// Cuts `axis`, of which index 0 is at `first`; appends what is left to the view.
void AddCut(const Cut& cut, const Axis& axis, const std::vector<int>& dims, View& view) {
  const auto size = axis.count;
  if (cut.kind == Cut::kOne) {
    const int64_t index = cut.begin < 0 ? cut.begin + size : cut.begin;
    if (index < 0 || index >= size) RefuseShape("an index " + std::to_string(cut.begin), dims);
    view.first += index * axis.stride;
    return;
  }
  // A backward slice may end before index 0.
  const int64_t low = cut.stride < 0 ? -1 : 0;
  const int64_t high = cut.stride < 0 ? size - 1 : size;
  const auto bound = [&](int at, bool is_open, int64_t open) {
    const int64_t index = at < 0 ? at + size : at;
    return is_open ? open : std::clamp(index, std::min(low, high), high);
  };
  const int64_t begin = bound(cut.begin, cut.from_start, cut.stride < 0 ? high : low);
  int64_t end = bound(cut.end, cut.to_end, cut.stride < 0 ? low : high);
  if (cut.end_is_length && !cut.to_end) {
    end = std::clamp(begin + cut.end, std::min(low, high), high);
  }
  const int64_t span = cut.stride < 0 ? begin - end : end - begin;
  const int64_t step = std::abs(int64_t{cut.stride});
  const int64_t count = std::max<int64_t>((span + step - 1) / step, 0);
  if (count > 0) view.first += begin * axis.stride;
  view.shape.push_back(static_cast<int>(count));
  view.axes.push_back({.count = count, .stride = cut.stride * axis.stride});
}

View CutOut(const std::vector<Cut>& cuts, const std::vector<int>& dims) {
  const View whole = Whole(dims);
  View view{.shape = {}, .axes = {}};
  size_t read = 0;
  for (const Cut& cut : cuts) {
    if (cut.kind == Cut::kNew) {
      view.shape.push_back(1);
      continue;
    }
    const Axis& axis = whole.axes[read++];
    if (cut.kind == Cut::kWhole) {
      view.shape.push_back(static_cast<int>(axis.count));
      view.axes.push_back(axis);
    } else {
      AddCut(cut, axis, dims, view);
    }
  }
  return view;
}

View Gathered(const ViewOp& op, const std::vector<int>& dims) {
  View view = Whole(dims);
  const size_t axis = AxisOf(op.axis, dims.size(), dims);
  for (const int index : op.numbers) {
    if (index < 0 || index >= dims[axis]) {
      RefuseShape("an index " + std::to_string(index) + " along axis " + std::to_string(axis),
                  dims);
    }
  }
  const auto count = static_cast<int64_t>(op.numbers.size());
  view.axes[axis] = Mapped(count, view.axes[axis].stride,
                           [&](int64_t i) { return int64_t{op.numbers[static_cast<size_t>(i)]}; });
  view.shape[axis] = static_cast<int>(count);
  if (op.is_scalar) view.shape.erase(view.shape.begin() + static_cast<ptrdiff_t>(axis));
  return view;
}

View Mirrored(const ViewOp& op, const std::vector<int>& dims) {
  View view = Whole(dims);
  CheckRank(dims, "input", op.numbers.size() / 2);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int before = op.numbers[2 * i], after = op.numbers[2 * i + 1];
    const int most = op.repeats_edge ? dims[i] : std::max(dims[i] - 1, 0);
    if (before > most || after > most) {
      RefuseShape("a size that can be mirrored along axis " + std::to_string(i), dims);
    }
    if (before == 0 && after == 0) continue;
    const int64_t size = dims[i], edge = op.repeats_edge ? 1 : 0;
    view.shape[i] = CheckedSize(size + before + after);
    view.axes[i] = Mapped(view.shape[i], view.axes[i].stride, [&](int64_t at) {
      const int64_t index = at - before;
      if (index < 0) return -index - edge;
      return index < size ? index : 2 * (size - 1) - index + edge;
    });
  }
  return view;
}

// Views [n, h, w, b, b, c] as [n, h, b, w, b, c], or the other way round.
View Blocks(const ViewOp& op, const std::vector<int>& dims) {
  CheckRank(dims, "input", 4);
  const int size = op.numbers[0];
  const bool to_space = op.form == ViewOp::kDepthToSpace;
  const int area = CheckedSize(int64_t{size} * size);
  if (to_space ? dims[3] % area != 0 : dims[1] % size != 0 || dims[2] % size != 0) {
    RefuseShape("sizes that blocks of " + std::to_string(size) + " divide", dims);
  }
  if (to_space) {
    View view = Whole({dims[0], dims[1], dims[2], size, size, dims[3] / area});
    std::swap(view.axes[2], view.axes[3]);
    view.shape = {dims[0], CheckedSize(int64_t{dims[1]} * size),
                  CheckedSize(int64_t{dims[2]} * size), dims[3] / area};
    return view;
  }
  View view = Whole({dims[0], dims[1] / size, size, dims[2] / size, size, dims[3]});
  std::swap(view.axes[2], view.axes[3]);
  view.shape = {dims[0], dims[1] / size, dims[2] / size, CheckedSize(int64_t{dims[3]} * area)};
  return view;
}

// Returns the input's index that is nearest to an output's, in float32 as TensorFlow Lite does.
int64_t Nearest(const ViewOp& op, int64_t at, int64_t from, int64_t to) {
  const bool aligns = op.aligns_corners && to > 1;
  const float scale = aligns ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                             : static_cast<float>(from) / static_cast<float>(to);
  const float offset = op.has_pixel_centers ? 0.5f : 0.0f;
  const float place = (static_cast<float>(at) + offset) * scale;
  const auto index =
      static_cast<int64_t>(op.aligns_corners ? std::round(place) : std::floor(place));
  return std::clamp<int64_t>(index, 0, from - 1);
}

View Resized(const ViewOp& op, const std::vector<int>& dims) {
  CheckRank(dims, "input", 4);
  View view = Whole(dims);
  for (size_t i : {1, 2}) {
    const int64_t from = dims[i], to = op.numbers[i - 1];
    if (from == 0) RefuseShape("images of at least one pixel", dims);
    view.axes[i] =
        Mapped(to, view.axes[i].stride, [&](int64_t at) { return Nearest(op, at, from, to); });
    view.shape[i] = static_cast<int>(to);
  }
  return view;
}

View Reversed(const std::vector<int>& axes, const std::vector<int>& dims) {
  View view = Whole(dims);
  std::vector<bool> turns(dims.size());
  for (const int axis : axes) turns[AxisOf(axis, dims.size(), dims)] = true;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!turns[i] || dims[i] == 0) continue;
    view.first += (dims[i] - 1) * view.axes[i].stride;
    view.axes[i].stride = -view.axes[i].stride;
  }
  return view;
}

bool AreAllAtLeast(const std::vector<int>& numbers, int least) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int number) { return number >= least; });
}

// Reads the dimensions of a STRIDED_SLICE of a tensor of this rank; nothing if they do not fit.
std::optional<std::vector<Cut>> ReadCuts(const OpInfo& op) {
  const FileOptions& options = op.builtin_options.file;
  const std::vector<int> begin = ReadInts(op.inputs[1]), end = ReadInts(op.inputs[2]),
                         strides = ReadInts(op.inputs[3]);
  const size_t given = begin.size();
  if (end.size() != given || strides.size() != given || given > ViewOp::kMaxDims) {
    return std::nullopt;
  }
  const auto has = [](int32_t mask, size_t bit) { return (mask >> bit & 1) != 0; };
  size_t reads = 0;  // dimensions of the input that are named
  for (size_t i = 0; i < given; ++i) {
    reads += !has(options.new_axis_mask, i) && !has(options.ellipsis_mask, i);
  }
  const size_t rank = op.inputs[0].dims.size();
  if (reads > rank) return std::nullopt;
  std::vector<Cut> cuts;
  bool is_filled = false;
  const auto fill = [&] {
    cuts.insert(cuts.end(), rank - reads, Cut{.kind = Cut::kWhole});
    is_filled = true;
  };
  for (size_t i = 0; i < given; ++i) {
    if (has(options.ellipsis_mask, i)) {
      if (is_filled) return std::nullopt;
      fill();
    } else if (has(options.new_axis_mask, i)) {
      cuts.push_back({.kind = Cut::kNew});
    } else {
      const bool is_one = has(options.shrink_axis_mask, i);
      if (strides[i] == 0 || (is_one && strides[i] < 0)) return std::nullopt;
      cuts.push_back({.kind = is_one ? Cut::kOne : Cut::kRange,
                      .begin = begin[i],
                      .end = end[i],
                      .stride = strides[i],
                      .from_start = has(options.begin_mask, i),
                      .to_end = has(options.end_mask, i),
                      .end_is_length = options.offset});
      // Index 0 is meant, as in NumPy's x[None:1].
      if (is_one && has(options.begin_mask, i)) cuts.back().begin = 0;
    }
  }
  if (!is_filled) fill();
  return cuts;
}

std::optional<ViewOp> TryRead(const OpInfo& op, ViewOp::Form form) {
  const bool has_new_shape = form == ViewOp::kReshape && op.inputs.size() == 1;
  const size_t inputs = has_new_shape                   ? 1
                        : form == ViewOp::kStridedSlice ? 4
                        : form == ViewOp::kSqueeze || form == ViewOp::kUnpack ||
                                form == ViewOp::kDepthToSpace || form == ViewOp::kSpaceToDepth
                            ? 1
                            : 2;
  if (op.inputs.size() != inputs || !op.inputs[0].present || op.inputs[0].constant != nullptr ||
      op.inputs[0].dims.size() > ViewOp::kMaxDims || op.output.type != op.inputs[0].type ||
      ElementBytes(op.output.type) == 0 || ElementBytes(op.output.type) > sizeof(uint64_t)) {
    return std::nullopt;
  }
  const FileOptions& options = op.builtin_options.file;
  ViewOp read{.form = form, .element_bytes = ElementBytes(op.output.type)};
  if (inputs == 2) {
    const bool are_ints = op.inputs[1].present && op.inputs[1].constant != nullptr &&
                          op.inputs[1].type == ElementType::kInt32;
    // Hosts read the options of a RESHAPE whose shape is not a vector.
    if (!are_ints || (form == ViewOp::kReshape && op.inputs[1].dims.size() != 1)) {
      return std::nullopt;
    }
    read.numbers = ReadInts(op.inputs[1]);
  }
  const size_t rank = op.inputs[0].dims.size(), numbers = read.numbers.size();
  switch (form) {
    case ViewOp::kTranspose: {
      std::vector<int> order = read.numbers;
      for (int& axis : order) axis += axis < 0 ? static_cast<int>(rank) : 0;
      std::sort(order.begin(), order.end());
      std::vector<int> all(rank);
      std::iota(all.begin(), all.end(), 0);
      if (order != all) return std::nullopt;
      return read;
    }
    case ViewOp::kExpandDims:
      if (numbers != 1) return std::nullopt;
      return read;
    case ViewOp::kSqueeze:
      read.numbers = options.squeeze_dims;
      return read;
    case ViewOp::kReshape:
      if (has_new_shape) read.numbers = options.new_shape;
      if (std::count(read.numbers.begin(), read.numbers.end(), -1) > 1 ||
          !std::all_of(read.numbers.begin(), read.numbers.end(),
                       [](int size) { return size == -1 || size >= 1; })) {
        return std::nullopt;
      }
      return read;
    case ViewOp::kBroadcastTo:
      if (numbers > ViewOp::kMaxDims || !AreAllAtLeast(read.numbers, 0)) return std::nullopt;
      return read;
    case ViewOp::kTile:
      if (numbers != rank || !AreAllAtLeast(read.numbers, 0)) return std::nullopt;
      return read;
    case ViewOp::kUnpack:
      read.axis = options.axis;
      read.part = static_cast<int>(op.output_number);
      read.parts = static_cast<int>(op.outputs);
      return read;
    case ViewOp::kStridedSlice: {
      std::optional<std::vector<Cut>> cuts = ReadCuts(op);
      if (!cuts) return std::nullopt;
      read.cuts = *std::move(cuts);
      return read;
    }
    case ViewOp::kGather:
      read.axis = options.axis;
      read.is_scalar = op.inputs[1].dims.empty();
      if (op.inputs[1].dims.size() > 1 || options.batch_dims != 0) return std::nullopt;
      return read;
    case ViewOp::kMirrorPad:
      read.repeats_edge = options.pad_mode == 1;
      if (numbers != 2 * rank || !AreAllAtLeast(read.numbers, 0) || options.pad_mode < 0 ||
          options.pad_mode > 1) {
        return std::nullopt;
      }
      return read;
    case ViewOp::kDepthToSpace:
    case ViewOp::kSpaceToDepth:
      read.numbers = {options.block_size};
      if (options.block_size < 1) return std::nullopt;
      return read;
    case ViewOp::kResizeNearest:
      read.aligns_corners = options.align_corners;
      read.has_pixel_centers = options.half_pixel_centers;
      if (numbers != 2 || !AreAllAtLeast(read.numbers, 1) ||
          (options.align_corners && options.half_pixel_centers)) {
        return std::nullopt;
      }
      return read;
    case ViewOp::kReverse:
      return read;
  }
  return std::nullopt;
}

}  // namespace

bool ViewOp::CanClaim(const OpInfo& op, Form form) { return TryRead(op, form).has_value(); }

ViewOp ViewOp::Read(const OpInfo& op, Form form) { return TryRead(op, form).value(); }

View ViewOp::Of(const std::vector<int>& dims) const {
  switch (form) {
    case kTranspose:
      CheckRank(dims, "input", numbers.size());
      return Transposed(numbers, dims);
    case kExpandDims:
      return WithNewAxis(numbers[0], dims);
    case kSqueeze:
      return Squeezed(numbers, dims);
    case kReshape:
      return Reshaped(numbers, dims);
    case kBroadcastTo:
      return Broadcast(numbers, dims);
    case kTile:
      return Tiled(numbers, dims);
    case kUnpack:
      return PartOf(*this, dims);
    case kStridedSlice: {
      const auto reads = std::count_if(cuts.begin(), cuts.end(),
                                       [](const Cut& cut) { return cut.kind != Cut::kNew; });
      CheckRank(dims, "input", static_cast<size_t>(reads));
      return CutOut(cuts, dims);
    }
    case kGather:
      return Gathered(*this, dims);
    case kMirrorPad:
      return Mirrored(*this, dims);
    case kDepthToSpace:
    case kSpaceToDepth:
      return Blocks(*this, dims);
    case kResizeNearest:
      return Resized(*this, dims);
    case kReverse:
      return Reversed(numbers, dims);
  }
  return Whole(dims);
}

TensorShape ViewOp::Shape(std::span<const TensorShape> inputs) const {
  CountElements(inputs[0].dims, inputs[0].dims.size());
  TensorShape shape{.dims = Of(inputs[0].dims).shape};
  CountElements(shape.dims, shape.dims.size());
  return shape;
}

bool ViewOp::MixesSamples() const {
  const bool keeps = form == kResizeNearest || form == kDepthToSpace || form == kSpaceToDepth ||
                     (form == kTranspose && !numbers.empty() && numbers[0] == 0);
  return !keeps;
}

bool ViewOp::KeepsOrder(const std::vector<int>& dims) const {
  const View view = Of(dims);
  int64_t elements = 1;
  for (size_t i = view.axes.size(); i-- > 0;) {
    const Axis& axis = view.axes[i];
    if (!axis.places.empty() || (axis.count != 1 && axis.stride != elements)) return false;
    elements *= axis.count;
  }
  return view.first == 0 && elements == CountElements(dims, dims.size());
}

}  // namespace larq_engine
