#include "larq_engine/kernels/common/process_mutex.h"

#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace larq_engine {
namespace {

struct All {
  std::mutex mutex;  // guards what follows
  std::vector<std::mutex*> mutexes;
};

All& TheAll() {
  static All& all = *new All;
  return all;
}

#if !defined(_WIN32)

void LockAll() {
  TheAll().mutex.lock();
  for (std::mutex* mutex : TheAll().mutexes) mutex->lock();
}

void UnlockAll() {
  for (std::mutex* mutex : TheAll().mutexes) mutex->unlock();
  TheAll().mutex.unlock();
}

void LockAllAtForks() {
  [[maybe_unused]] static const int registered = pthread_atfork(LockAll, UnlockAll, UnlockAll);
}

#else

void LockAllAtForks() {}

#endif

}  // namespace

ProcessMutex::ProcessMutex() {
  LockAllAtForks();
  const std::lock_guard lock(TheAll().mutex);
  TheAll().mutexes.push_back(this);
}

}  // namespace larq_engine
