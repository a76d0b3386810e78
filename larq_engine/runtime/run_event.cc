#include "larq_engine/runtime/run_event.h"

#include <mutex>
#include <set>

#include "larq_engine/kernels/common/process_mutex.h"

namespace larq_engine {

const char* LastingName(const std::string& name) {
  static auto* names = new std::set<std::string>;
  static auto& mutex = *new ProcessMutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return names->insert(name).first->c_str();
}

}  // namespace larq_engine
