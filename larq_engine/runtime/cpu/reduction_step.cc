// SUM, MEAN, REDUCE_PROD, REDUCE_MAX and REDUCE_MIN over any axes.
#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// A number of indices, and the distance from one to the next in the input.
struct Axis {
  int64_t count;
  int64_t stride;
};

int64_t Product(std::span<const Axis> axes) {
  int64_t product = 1;
  for (const Axis& axis : axes) product *= axis.count;
  return product;
}

// Returns the place of an index that counts through all axes, the last one first.
int64_t PlaceOf(std::span<const Axis> axes, int64_t index) {
  int64_t place = 0;
  for (size_t i = axes.size(); i-- > 0; index /= axes[i].count) {
    place += index % axes[i].count * axes[i].stride;
  }
  return place;
}

// Whole numbers wrap, as the host's do.
template <typename T, typename Function>
T Wrapping(T a, T b, const Function& function) {
  if constexpr (std::is_same_v<T, int32_t>) {
    return static_cast<T>(function(static_cast<uint32_t>(a), static_cast<uint32_t>(b)));
  } else {
    return function(a, b);
  }
}

template <typename T>
struct Sum {
  static constexpr T kStart = 0;
  static T Of(T a, T b) { return Wrapping(a, b, std::plus()); }
};
template <typename T>
struct Multiply {
  static constexpr T kStart = 1;
  static T Of(T a, T b) { return Wrapping(a, b, std::multiplies()); }
};
template <typename T>
struct Maximum {
  static constexpr T kStart = std::numeric_limits<T>::lowest();
  static T Of(T a, T b) { return b > a ? b : a; }
};
template <typename T>
struct Minimum {
  static constexpr T kStart = std::numeric_limits<T>::max();
  static T Of(T a, T b) { return b < a ? b : a; }
};

// A pixel is a run of the output: what follows the last axis that goes, or a single value.
class ReductionStep : public Step {
 public:
  explicit ReductionStep(const ReductionOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = inputs[0].dims;
    const std::vector<bool> reduced = op_.Reduced(dims);
    kept_.clear();
    gone_.clear();
    run_ = 1;
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      if (!reduced[i] && gone_.empty()) {
        run_ *= dims[i];
      } else {
        std::vector<Axis>& axes = reduced[i] ? gone_ : kept_;
        axes.insert(axes.begin(), {.count = dims[i], .stride = stride});
      }
      stride *= dims[i];
    }
    const int64_t values = CountElements(output.dims, output.dims.size());
    pixels_ = values == 0 ? 0 : values / run_;
  }

  int64_t pixels() const override { return pixels_; }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    if (op_.is_float) {
      RunOn(static_cast<const float*>(inputs[0]), range, static_cast<float*>(output));
    } else {
      RunOn(static_cast<const int32_t*>(inputs[0]), range, static_cast<int32_t*>(output));
    }
  }

 private:
  template <typename T>
  void RunOn(const T* in, const StepRange& range, T* out) const {
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel, out += run_) {
      const T* first = in + PlaceOf(kept_, pixel);
      switch (op_.kind) {
        case ReductionOp::kSum:
          Reduce<Sum<T>>(first, out);
          break;
        case ReductionOp::kMean:
          Reduce<Sum<T>>(first, out);
          std::transform(out, out + run_, out,
                         [count = static_cast<T>(Product(gone_))](T sum) { return sum / count; });
          break;
        case ReductionOp::kProduct:
          Reduce<Multiply<T>>(first, out);
          break;
        case ReductionOp::kMaximum:
          Reduce<Maximum<T>>(first, out);
          break;
        case ReductionOp::kMinimum:
          Reduce<Minimum<T>>(first, out);
          break;
      }
    }
  }

  template <typename Combine, typename T>
  void Reduce(const T* first, T* out) const {
    std::fill_n(out, run_, Combine::kStart);
    const int64_t count = Product(gone_);
    for (int64_t i = 0; i < count; ++i) {
      const T* in = first + PlaceOf(gone_, i);
      for (int64_t value = 0; value < run_; ++value) {
        out[value] = Combine::Of(out[value], in[value]);
      }
    }
  }

  const ReductionOp& op_;
  std::vector<Axis> kept_;  // axes of the output before the run
  std::vector<Axis> gone_;
  int64_t run_ = 1;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ReductionOp& op, const StepKernels&) {
  return std::make_unique<ReductionStep>(op);
}

}  // namespace larq_engine
