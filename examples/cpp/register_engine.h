// larq_engine as an accelerator of LiteRT.
#ifndef EXAMPLES_CPP_REGISTER_ENGINE_H_
#define EXAMPLES_CPP_REGISTER_ENGINE_H_

#include <string>

#include "litert.h"

// Throws std::runtime_error with the task if the status is not OK.
void Check(LiteRtStatus status, const std::string& task);

// Registers both in an environment that has no accelerators yet. They get their turn in the order
// of registration; XNNPACK before the engine would take the float operators between binarized ones.
void RegisterEngineAndXnnpack(LiteRtEnvironment environment);

#endif  // EXAMPLES_CPP_REGISTER_ENGINE_H_
