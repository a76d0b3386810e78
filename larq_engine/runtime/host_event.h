// An event for the host's own profiler, as long as the object lives.
#ifndef LARQ_ENGINE_RUNTIME_HOST_EVENT_H_
#define LARQ_ENGINE_RUNTIME_HOST_EVENT_H_

#include <string>

#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// A copy that lasts as long as the process: hosts' profilers keep the pointers, and read them when
// plans may have been made anew. There are as many as there are different names.
const char* LastingName(const std::string& name);

class HostEvent {
 public:
  // `name` is a lasting one. Nothing where a node is a plan by itself (without number): the host
  // times that one already.
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
