// Lines of a result of broadcasting: stretches of values for which each operand has values that
// follow each other, or one value.
#ifndef LARQ_ENGINE_RUNTIME_CPU_BROADCAST_LINES_H_
#define LARQ_ENGINE_RUNTIME_CPU_BROADCAST_LINES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace larq_engine {

class BroadcastLines {
 public:
  static constexpr size_t kMostOperands = 3;

  BroadcastLines() = default;
  // The shapes must fit each other. Lines are as long as these shapes allow.
  BroadcastLines(std::span<const std::vector<int>> operands, const std::vector<int>& result);

  int64_t lines() const { return lines_; }
  int64_t values() const { return values_; }  // of a line
  bool IsOne(size_t operand) const { return steps_[operand] == 0; }

  // Returns the index of the operand's first value for a line.
  int64_t Begin(size_t operand, int64_t line) const {
    int64_t begin = 0;
    for (const Axis& axis : outer_) {
      begin += line % axis.size * axis.strides[operand];
      line /= axis.size;
    }
    return begin;
  }

 private:
  using Strides = std::array<int64_t, kMostOperands>;
  struct Axis {
    int64_t size;
    Strides strides;  // in values of each operand; 0 if it has one for all
  };

  std::vector<Axis> outer_;  // those across lines, innermost first; neighbours are merged
  Strides steps_ = {};       // along a line
  int64_t values_ = 1;
  int64_t lines_ = 1;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_BROADCAST_LINES_H_
