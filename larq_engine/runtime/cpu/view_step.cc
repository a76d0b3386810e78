// TRANSPOSE and other operators that only move elements (view_op.h).
#include <algorithm>
#include <cstring>

#include "larq_engine/kernels/layers/transposed_copy.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

using Axis = ViewOp::Axis;

// Puts axes together whose elements follow each other, and leaves out those of one element.
std::vector<Axis> Joined(const std::vector<Axis>& axes) {
  std::vector<Axis> joined;
  for (const Axis& axis : axes) {
    if (axis.count == 1 && axis.places.empty()) continue;
    const bool continues = !joined.empty() && joined.back().places.empty() && axis.places.empty() &&
                           joined.back().stride == axis.count * axis.stride;
    if (continues) {
      joined.back() = {.count = joined.back().count * axis.count, .stride = axis.stride};
    } else {
      joined.push_back(axis);
    }
  }
  return joined;
}

template <typename Element>
void CopyRow(const std::byte* in, const Axis& row, std::byte* out) {
  for (int64_t i = 0; i < row.count; ++i) {
    std::memcpy(out + i * static_cast<int64_t>(sizeof(Element)),
                in + row.Place(i) * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
  }
}

void CopyRow(const std::byte* in, const Axis& row, size_t element_bytes, std::byte* out) {
  if (row.stride == 1 && row.places.empty()) {
    std::memcpy(out, in, static_cast<size_t>(row.count) * element_bytes);
    return;
  }
  switch (element_bytes) {
    case 1:
      return CopyRow<uint8_t>(in, row, out);
    case 2:
      return CopyRow<uint16_t>(in, row, out);
    case 4:
      return CopyRow<uint32_t>(in, row, out);
    default:
      return CopyRow<uint64_t>(in, row, out);
  }
}

// A row is the last axis of the view; rows are the step's pixels.
class ViewStep : public Step {
 public:
  explicit ViewStep(const ViewOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const ViewOp::View view = op_.Of(inputs[0].dims);
    first_ = view.first;
    axes_ = Joined(view.axes);
    if (axes_.empty()) axes_.push_back({.count = 1, .stride = 1});
    row_ = axes_.back();
    axes_.pop_back();
    has_columns_ = !axes_.empty() && axes_.back().stride == 1 && axes_.back().places.empty() &&
                   row_.places.empty();
    const int64_t elements = CountElements(output.dims, output.dims.size());
    rows_ = elements == 0 ? 0 : elements / row_.count;
  }

  int64_t pixels() const override { return rows_; }
  // Rows of columns are copied 16 together, if there are as many.
  KernelPixels kernel_pixels() const override {
    return {.tile = has_columns_ && axes_.back().count >= 16 ? 16 : 1};
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const std::byte*>(inputs[0]);
    auto* out = static_cast<std::byte*>(output);
    const auto element_bytes = static_cast<int64_t>(op_.element_bytes);
    for (int64_t row = range.first_pixel; row < range.last_pixel;) {
      const std::byte* from = in + PlaceOf(row) * element_bytes;
      int64_t rows = 1;
      if (has_columns_) {
        const int64_t columns = axes_.back().count;
        rows = std::min(columns - row % columns, range.last_pixel - row);
        CopyTransposed(from, {.rows = row_.count, .columns = rows, .row_stride = row_.stride},
                       op_.element_bytes, out);
      } else {
        CopyRow(from, row_, op_.element_bytes, out);
      }
      out += rows * row_.count * element_bytes;
      row += rows;
    }
  }

 private:
  int64_t PlaceOf(int64_t row) const {
    int64_t place = first_;
    for (size_t i = axes_.size(); i-- > 0; row /= axes_[i].count) {
      place += axes_[i].Place(row % axes_[i].count);
    }
    return place;
  }

  const ViewOp& op_;
  std::vector<Axis> axes_;  // all but the last
  Axis row_ = {.count = 1, .stride = 1};
  bool has_columns_ = false;  // rows are columns of matrices of the input
  int64_t first_ = 0;
  int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ViewOp& op, const StepKernels&) {
  return std::make_unique<ViewStep>(op);
}

}  // namespace larq_engine
