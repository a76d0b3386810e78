// A mutex of the whole process, which no fork leaves locked.
#ifndef LARQ_ENGINE_KERNELS_PROCESS_MUTEX_H_
#define LARQ_ENGINE_KERNELS_PROCESS_MUTEX_H_

#include <mutex>

namespace larq_engine {

// A forked process has the thread that forked alone, and would wait for ever for one that another
// thread had locked. So whoever forks waits for all of them and holds them meanwhile. Each must be
// locked with no other one, and must never be destroyed.
class ProcessMutex : public std::mutex {
 public:
  ProcessMutex();
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PROCESS_MUTEX_H_
