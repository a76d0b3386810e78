// Computes the time of assignments as larq_engine/runtime/plan/assign.h defines it, in the simplest
// way.
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
  size_t device;  // device that it is moved to
};

// Returns the transfers in the order of values.
std::vector<AssignTransfer> TransfersOf(const AssignProblem& problem,
                                        const std::vector<size_t>& device);

// Returns infinity if a device refuses its operator.
double SecondsOf(const AssignProblem& problem, const std::vector<size_t>& device);

// Tries all assignments. Returns the one of least time; among equals, the one with the most
// operators on device 0.
std::vector<size_t> BestOfAll(const AssignProblem& problem);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_PLAN_ASSIGN_ORACLE_H_
