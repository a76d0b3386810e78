// ARG_MAX and ARG_MIN of the host.
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

struct ExtremeFinder {
  size_t size;    // values along the axis
  size_t stride;  // from one to the next

  // Finds the first of the best values. NaN is one only if all are NaN.
  template <typename T, typename IsBetter>
  size_t Find(const T* values, const IsBetter& is_better) const {
    size_t best = 0;
    for (size_t i = 1; i < size; ++i) {
      const T value = values[i * stride], most = values[best * stride];
      if (is_better(value, most) || (most != most && value == value)) best = i;
    }
    return best;
  }
};

class ArgMaxStep : public Step {
 public:
  explicit ArgMaxStep(const ArgMaxOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = inputs[0].dims;
    const size_t axis = op_.AxisOf(dims);
    pixels_ = CountElements(output.dims, output.dims.size());
    finder_ = {.size = static_cast<size_t>(dims[axis]), .stride = 1};
    for (size_t i = axis + 1; i < dims.size(); ++i) finder_.stride *= static_cast<size_t>(dims[i]);
  }
  int64_t pixels() const override { return pixels_; }  // one value each

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    switch (op_.type) {
      case ValueType::kFloat32:
        return RunOn(static_cast<const float*>(inputs[0]), range, output);
      case ValueType::kInt32:
        return RunOn(static_cast<const int32_t*>(inputs[0]), range, output);
      case ValueType::kInt8:
        return RunOn(static_cast<const int8_t*>(inputs[0]), range, output);
      default:
        return RunOn(static_cast<const uint8_t*>(inputs[0]), range, output);
    }
  }

 private:
  template <typename T>
  void RunOn(const T* in, const StepRange& range, void* output) const {
    if (op_.index_type == ValueType::kInt64) {
      FindEach(in, range, static_cast<int64_t*>(output));
    } else {
      FindEach(in, range, static_cast<int32_t*>(output));
    }
  }

  template <typename T, typename Index>
  void FindEach(const T* in, const StepRange& range, Index* out) const {
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel) {
      const auto index = static_cast<size_t>(pixel);
      const size_t outer = index / finder_.stride;
      const T* values = in + outer * finder_.stride * finder_.size + index % finder_.stride;
      const size_t found = op_.form == ArgMaxOp::kArgMax
                               ? finder_.Find(values, [](T a, T b) { return a > b; })
                               : finder_.Find(values, [](T a, T b) { return a < b; });
      *out++ = static_cast<Index>(found);
    }
  }

  const ArgMaxOp& op_;
  ExtremeFinder finder_ = {};
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ArgMaxOp& op, const StepKernels&) {
  return std::make_unique<ArgMaxStep>(op);
}

}  // namespace larq_engine
