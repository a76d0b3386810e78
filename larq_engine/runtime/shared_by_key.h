// Has the objects that the whole process shares, for as long as somebody uses them.
#ifndef LARQ_ENGINE_RUNTIME_SHARED_BY_KEY_H_
#define LARQ_ENGINE_RUNTIME_SHARED_BY_KEY_H_

#include <map>
#include <memory>
#include <mutex>

#include "larq_engine/kernels/process_mutex.h"

namespace larq_engine {

// It must never be destroyed, as its mutex must not.
template <typename Key, typename T>
class SharedByKey {
 public:
  // Returns the object of a key; make() makes it if nobody uses it. Two threads may each make one,
  // of which the first is kept: making one may lock, which it must not with the mutex held.
  template <typename Make>
  std::shared_ptr<T> Get(const Key& key, const Make& make) {
    if (std::shared_ptr<T> used = Find(key)) return used;
    const std::shared_ptr<T> made = make();
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
