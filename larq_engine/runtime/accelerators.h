// The devices besides the CPU that this build has.
#ifndef LARQ_ENGINE_RUNTIME_ACCELERATORS_H_
#define LARQ_ENGINE_RUNTIME_ACCELERATORS_H_

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

using ExecutorMaker = std::function<std::unique_ptr<Executor>()>;

struct Accelerator {
  // Returns what makes the device's executor. Throws OpError if there is no usable device.
  ExecutorMaker (*find)(const EngineOptions&);
  // Returns a line for each device, or one that says why there is none; each after a line's end.
  std::string (*describe)();
};

// Returns the kinds in the order of AcceleratorKinds.
std::span<const Accelerator> Accelerators();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_ACCELERATORS_H_
