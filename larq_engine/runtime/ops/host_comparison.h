// The speed of a device for an operator of the host, compared with the host's own on the CPU.
#ifndef LARQ_ENGINE_RUNTIME_OPS_HOST_COMPARISON_H_
#define LARQ_ENGINE_RUNTIME_OPS_HOST_COMPARISON_H_

#include <cstdint>

namespace larq_engine {

enum class HostComparison : uint8_t {
  kCannot,  // the device does not compute the operator, or leaves it to the host
  kSlower,
  kAsFast,  // beside other operators on the device, it is worth computing there
  kFaster,  // it is worth computing there whatever is beside it
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_HOST_COMPARISON_H_
