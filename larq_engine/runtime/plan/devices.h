// Numbers of devices in plans.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_DEVICES_H_
#define LARQ_ENGINE_RUNTIME_PLAN_DEVICES_H_

#include <cstddef>

namespace larq_engine {

// A device's number is its index in the engine's executors. Device 0 is the CPU, which computes in
// the host's memory. Each other device has memory of its own.
inline constexpr size_t kCpuDevice = 0;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_DEVICES_H_
