// How many CPUs this process may keep busy.
#ifndef LARQ_ENGINE_RUNTIME_USABLE_CPUS_H_
#define LARQ_ENGINE_RUNTIME_USABLE_CPUS_H_

#include <string>

namespace larq_engine {

// Those that the calling thread may run on, or fewer where the system's control group (a
// container's limit) gives less time. At least 1.
int UsableCpus();

// The CPUs that a limit of version 2 of Linux's control groups amounts to, rounded up; 0 for none.
// `group` is this process's group in the tree of groups at `root`, as "/a/b".
int GroupCpus(const std::string& root, std::string group);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_USABLE_CPUS_H_
