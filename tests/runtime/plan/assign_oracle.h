// What assignments take, as larq_engine/runtime/plan/assign.h says it and no cleverer.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_PLAN_ASSIGN_ORACLE_H_
#define LARQ_ENGINE_TESTS_RUNTIME_PLAN_ASSIGN_ORACLE_H_

#include <cstddef>
#include <vector>

#include "larq_engine/runtime/plan/assign.h"

namespace larq_engine::testing {

struct AssignProblem {
  std::vector<AssignOp> ops;
  std::vector<AssignValue> values;
};

struct AssignTransfer {
  size_t value;
  size_t device;  // that it is moved to
};

// In the order of values.
std::vector<AssignTransfer> TransfersOf(const AssignProblem& problem,
                                        const std::vector<size_t>& device);

// Infinite where a device refuses an operator.
double SecondsOf(const AssignProblem& problem, const std::vector<size_t>& device);

// Tries them all: of least time, and of several such one with most on device 0.
std::vector<size_t> BestOfAll(const AssignProblem& problem);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_PLAN_ASSIGN_ORACLE_H_
