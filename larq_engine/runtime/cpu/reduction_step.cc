// SUM, MEAN, REDUCE_PROD, REDUCE_MAX and REDUCE_MIN over any axes.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include "larq_engine/runtime/cpu/reduced_axes.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

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

// Combines values that follow one another, in lanes of which compilers make vectors.
template <typename Combine, typename T>
T ReduceLine(const T* values, int64_t count) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes];
  std::fill_n(lanes, kLanes, Combine::kStart);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = Combine::Of(lanes[lane], values[i + lane]);
    }
  }
  const T whole = std::accumulate(lanes, lanes + kLanes, Combine::kStart, Combine::Of);
  return std::accumulate(values + i, values + count, whole, Combine::Of);
}

// A pixel is a run of the output.
class ReductionStep : public Step {
 public:
  ReductionStep(const ReductionOp& op, const StepKernels& kernels)
      : op_(op), ops_(kernels.pixel_ops) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = inputs[0].dims;
    const std::vector<bool> reduced = op_.Reduced(dims);
    axes_ = ReducedAxes(dims, reduced);
    const int64_t values = CountElements(output.dims, output.dims.size());
    pixels_ = values == 0 ? 0 : values / axes_.run();
    is_of_rows_ = !dims.empty() && reduced.back();
    for (size_t i = 0; i + 1 < dims.size(); ++i) {
      is_of_rows_ = is_of_rows_ && (dims[i] == 1 || !reduced[i]);
    }
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return is_of_rows_; }
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
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel, out += axes_.run()) {
      const T* first =
          is_of_rows_ ? in + (pixel - range.first_pixel) * axes_.count() : in + axes_.First(pixel);
      switch (op_.kind) {
        case ReductionOp::kSum:
          Reduce<Sum<T>>(first, out);
          break;
        case ReductionOp::kMean:
          Reduce<Sum<T>>(first, out);
          std::transform(out, out + axes_.run(), out,
                         [count = static_cast<T>(axes_.count())](T sum) { return sum / count; });
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

  // Sums of floats are those of the row of pixel operations.
  template <typename Combine, typename T>
  T LineOf(const T* values, int64_t count) const {
    if constexpr (std::is_same_v<Combine, Sum<float>>) {
      float sum;
      ops_.sum(values, 1, static_cast<size_t>(count), &sum);
      return sum;
    } else {
      return ReduceLine<Combine>(values, count);
    }
  }

  template <typename Combine, typename T>
  void Reduce(const T* first, T* out) const {
    std::fill_n(out, axes_.run(), Combine::kStart);
    if (axes_.run() == 1) {
      axes_.ForEachLine([&](int64_t distance, int64_t size) {
        *out = Combine::Of(*out, LineOf<Combine>(first + distance, size));
      });
      return;
    }
    axes_.ForEach([&](int64_t distance) {
      std::transform(out, out + axes_.run(), first + distance, out, Combine::Of);
    });
  }

  const ReductionOp& op_;
  const PixelOps& ops_;
  ReducedAxes axes_;
  int64_t pixels_ = 0;
  bool is_of_rows_ = false;  // each value is made of a pixel of the input
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ReductionOp& op, const StepKernels& kernels) {
  return std::make_unique<ReductionStep>(op, kernels);
}

}  // namespace larq_engine
