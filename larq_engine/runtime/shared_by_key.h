// Objects that the whole process shares, each for as long as somebody uses it.
#ifndef LARQ_ENGINE_RUNTIME_SHARED_BY_KEY_H_
#define LARQ_ENGINE_RUNTIME_SHARED_BY_KEY_H_

#include <map>
#include <memory>
#include <mutex>

#include "larq_engine/kernels/common/process_mutex.h"

namespace larq_engine {

// Must never be destroyed, because its mutex must not be.
template <typename Key, typename T>
class SharedByKey {
 public:
  // Returns the object of a key; make() makes it if nobody uses it. If two threads make one at the
  // same time, the first is kept. The mutex is not held during make(), which may take locks of its
  // own.
  template <typename Make>
  std::shared_ptr<T> Get(const Key& key, const Make& make) {
    if (std::shared_ptr<T> used = Find(key)) return used;
    std::shared_ptr<T> made = make();
    const std::lock_guard<std::mutex> lock(mutex_);
    std::weak_ptr<T>& known = objects_[key];
    if (std::shared_ptr<T> used = known.lock()) return used;
    known = made;
    return made;
  }

 private:
  std::shared_ptr<T> Find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second.lock();
  }

  ProcessMutex mutex_;
  std::map<Key, std::weak_ptr<T>> objects_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_SHARED_BY_KEY_H_
