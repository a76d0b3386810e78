// An event in the host's own profiler. It lasts as long as the object.
#ifndef LARQ_ENGINE_RUNTIME_HOST_EVENT_H_
#define LARQ_ENGINE_RUNTIME_HOST_EVENT_H_

#include <string>

#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Returns a copy of the name that lasts as long as the process. Hosts' profilers keep the pointers,
// and may read them after the plans were made anew. Each different name is copied once.
const char* LastingName(const std::string& name);

class HostEvent {
 public:
  // `name` must be a LastingName. A negative `node` makes no event: then a single node is the plan,
  // and the host times that node already.
  HostEvent(void* profiler, int node, const char* name)
      : profiler_(node < 0 ? nullptr : static_cast<ProfilerInterface*>(profiler)) {
    if (profiler_ == nullptr) return;
    handle_ = profiler_->BeginEvent(
        name, ProfilerInterface::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT, node, 0);
  }
  ~HostEvent() {
    if (profiler_ != nullptr) profiler_->EndEvent(handle_);
  }
  HostEvent(const HostEvent&) = delete;
  HostEvent& operator=(const HostEvent&) = delete;

 private:
  ProfilerInterface* profiler_;
  uint32_t handle_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_EVENT_H_
