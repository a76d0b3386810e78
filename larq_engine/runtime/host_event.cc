#include "larq_engine/runtime/host_event.h"

#include <mutex>
#include <set>

namespace larq_engine {

const char* LastingName(const std::string& name) {
  static auto* names = new std::set<std::string>;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return names->insert(name).first->c_str();
}

}  // namespace larq_engine
