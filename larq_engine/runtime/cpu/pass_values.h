// Passes: parts of a batch that go through all steps of a segment one after another, and the values
// that one pass reads and makes.
#ifndef LARQ_ENGINE_RUNTIME_CPU_PASS_VALUES_H_
#define LARQ_ENGINE_RUNTIME_CPU_PASS_VALUES_H_

#include <cstddef>
#include <span>

#include "larq_engine/runtime/cpu/step_list.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

// Returns the number of passes for the program's current shapes: at least 1.
int CountPasses(const Program& program, std::span<const size_t> ops);

// The sizes of values in one pass. Values are numbered as in StepList.
class PassValues {
 public:
  PassValues(const Program& program, const StepList& list, int passes)
      : program_(program), list_(list), passes_(passes) {}

  // Tells whether the value is some channels of another one.
  bool IsPart(size_t value) const { return value >= program_.values().size(); }
  TensorShape Shape(size_t value) const;
  size_t Bytes(size_t value) const;

 private:
  const PartValue& Part(size_t value) const {
    return list_.parts[value - program_.values().size()];
  }

  const Program& program_;
  const StepList& list_;
  int passes_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_PASS_VALUES_H_
