// A mutex of the whole process that no fork leaves locked.
#ifndef LARQ_ENGINE_KERNELS_COMMON_PROCESS_MUTEX_H_
#define LARQ_ENGINE_KERNELS_COMMON_PROCESS_MUTEX_H_

#include <mutex>

namespace larq_engine {

// A forked process has only the thread that forked. It would wait for ever for a mutex that another
// thread had locked. So a thread that forks first waits for all of these mutexes, and holds them
// during the fork. A thread must never lock one of them while it holds another, and none may be
// destroyed.
class ProcessMutex : public std::mutex {
 public:
  ProcessMutex();
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_PROCESS_MUTEX_H_
