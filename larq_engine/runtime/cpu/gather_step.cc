// GATHER and GATHER_ND of the host.
#include <atomic>
#include <cstring>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// The step's pixels are rows of the data. Where an index does not exist, a row is zeros, and the
// run fails, as a host's does.
class GatherStep : public Step {
 public:
  explicit GatherStep(const GatherOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    rows_ = op_.Of(inputs[0].dims, inputs[1].dims);
    const int64_t elements = CountElements(output.dims, output.dims.size());
    pixels_ = elements == 0 ? 0 : elements / rows_.elements;
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    if (op_.has_long_indices) {
      Gather(inputs[0], static_cast<const int64_t*>(inputs[1]), range, output);
    } else {
      Gather(inputs[0], static_cast<const int32_t*>(inputs[1]), range, output);
    }
  }

  void CheckRun() const override {
    if (!has_fault_.exchange(false)) return;
    throw OpError("indices: expected indices of the data's sizes " + DimsString(rows_.sizes) +
                  ", got " + std::to_string(wrong_index_) + "; feed the indices of what there is");
  }

 private:
  template <typename Index>
  void Gather(const void* data, const Index* indices, const StepRange& range, void* output) const {
    const auto bytes = static_cast<size_t>(rows_.elements) * op_.element_bytes;
    auto* out = static_cast<std::byte*>(output);
    for (int64_t row = range.first_pixel; row < range.last_pixel; ++row, out += bytes) {
      const int64_t part = row / rows_.indices_of_batch;
      const int64_t tuple =
          part / rows_.repeats * rows_.indices_of_batch + row % rows_.indices_of_batch;
      const int64_t place = PlaceOf(part, indices + tuple * std::ssize(rows_.sizes));
      if (place < 0) {
        std::memset(out, 0, bytes);
      } else {
        std::memcpy(out, static_cast<const std::byte*>(data) + static_cast<size_t>(place) * bytes,
                    bytes);
      }
    }
  }

  // Returns the number of the data's row; -1 if an index does not exist.
  template <typename Index>
  int64_t PlaceOf(int64_t part, const Index* tuple) const {
    int64_t place = part;
    for (const int size : rows_.sizes) {
      const Index index = *tuple++;
      if (index < 0 || index >= size) {
        wrong_index_ = index;
        has_fault_ = true;
        return -1;
      }
      place = place * size + index;
    }
    return place;
  }

  const GatherOp& op_;
  GatherOp::Rows rows_;
  int64_t pixels_ = 0;
  mutable std::atomic<int64_t> wrong_index_ = 0;  // one of them, if there are several
  mutable std::atomic<bool> has_fault_ = false;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const GatherOp& op, const StepKernels&) {
  return std::make_unique<GatherStep>(op);
}

}  // namespace larq_engine
