// Assigns the operators of a program: asks the devices for what Assign compares.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_PROGRAM_H_
#define LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_PROGRAM_H_

#include <memory>
#include <span>

#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/assign.h"
#include "larq_engine/runtime/plan/placement.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

// Returns the assignment for the program's current shapes. Without a second executor the CPU
// computes everything, for no reason. Throws OpError, whose text names the operator, if no device
// computes it, or not the one where it is placed.
Assignment AssignProgram(const Program& program, const Placement& placement,
                         std::span<const std::unique_ptr<Executor>> executors, int host_threads);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_PROGRAM_H_
