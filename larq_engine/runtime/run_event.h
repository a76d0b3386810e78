// Events of a run for a profiler that is not ours, such as a host's.
#ifndef LARQ_ENGINE_RUNTIME_RUN_EVENT_H_
#define LARQ_ENGINE_RUNTIME_RUN_EVENT_H_

#include <cstdint>
#include <string>

namespace larq_engine {

// Returns a copy of the name that lasts as long as the process. Profilers keep the pointers, and
// may read them after the plans were made anew. Each different name is copied once.
const char* LastingName(const std::string& name);

class RunProfiler {
 public:
  virtual ~RunProfiler() = default;
  // Returns a handle for End. `name` is a LastingName.
  virtual uint32_t Begin(const char* name, int node) = 0;
  virtual void End(uint32_t event) = 0;
};

// An event that lasts as long as the object.
class RunEvent {
 public:
  // `name` must be a LastingName. A negative `node` makes no event: then a single node is the plan,
  // and a host times that node already.
  RunEvent(RunProfiler* profiler, int node, const char* name)
      : profiler_(node < 0 ? nullptr : profiler) {
    if (profiler_ != nullptr) event_ = profiler_->Begin(name, node);
  }
  ~RunEvent() {
    if (profiler_ != nullptr) profiler_->End(event_);
  }
  RunEvent(const RunEvent&) = delete;
  RunEvent& operator=(const RunEvent&) = delete;

 private:
  RunProfiler* profiler_;
  uint32_t event_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_RUN_EVENT_H_
