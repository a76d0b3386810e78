// Finds the values that a reduction over some axes combines.
#ifndef LARQ_ENGINE_RUNTIME_CPU_REDUCED_AXES_H_
#define LARQ_ENGINE_RUNTIME_CPU_REDUCED_AXES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace larq_engine {

// The output consists of runs: the values that follow the last axis that is reduced, or single
// values. Each value of a run is made of as many values of the input, whose distances from the
// first of them are the same for all runs. Places are counted in values of the input.
class ReducedAxes {
 public:
  ReducedAxes() = default;
  ReducedAxes(const std::vector<int>& dims, const std::vector<bool>& is_reduced) {
    bool is_in_run = true;
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) {
      const Axis axis{.size = dims[i], .stride = stride};
      if (!is_reduced[i] && is_in_run) {
        run_ *= axis.size;
      } else if (!is_reduced[i]) {
        kept_.push_back(axis);
      } else if (is_in_run) {
        inner_ = axis;
        is_in_run = false;
      } else {
        outer_.push_back(axis);
        lines_ *= axis.size;
      }
    }
  }

  int64_t run() const { return run_; }
  // Returns how many values of the input make one of the output.
  int64_t count() const { return lines_ * inner_.size; }

  // Returns the place of the first value of the input that run `index` of the output is made of.
  int64_t First(int64_t index) const { return PlaceOf(kept_, index); }

  // Calls take(distance) for each value that is combined, in the order in which they lie.
  template <typename Take>
  void ForEach(const Take& take) const {
    ForEachLine([&](int64_t first, int64_t size) {
      for (int64_t i = 0; i < size; ++i) take(first + i * inner_.stride);
    });
  }
  // Calls take(distance, size) for each line of values along the last axis that is reduced. In
  // runs of one value, those of a line follow one another.
  template <typename Take>
  void ForEachLine(const Take& take) const {
    for (int64_t line = 0; line < lines_; ++line) take(PlaceOf(outer_, line), inner_.size);
  }

 private:
  struct Axis {
    int64_t size;
    int64_t stride;
  };

  // `axes` are innermost first.
  static int64_t PlaceOf(const std::vector<Axis>& axes, int64_t index) {
    int64_t place = 0;
    for (const Axis& axis : axes) {
      place += index % axis.size * axis.stride;
      index /= axis.size;
    }
    return place;
  }

  std::vector<Axis> kept_;                 // before the run
  std::vector<Axis> outer_;                // the axes that are reduced, but the last of them
  Axis inner_ = {.size = 1, .stride = 0};  // the last one
  int64_t lines_ = 1;                      // number of indices of outer_
  int64_t run_ = 1;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_REDUCED_AXES_H_
