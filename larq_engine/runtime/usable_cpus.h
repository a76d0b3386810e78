// The number of CPUs that this process may keep busy.
#ifndef LARQ_ENGINE_RUNTIME_USABLE_CPUS_H_
#define LARQ_ENGINE_RUNTIME_USABLE_CPUS_H_

#include <string>

namespace larq_engine {

// Counts the CPUs that the calling thread may run on. Returns fewer, but at least 1, if the
// system's control group (a container's limit) grants less time.
int UsableCpus();

// Returns a text that names the CPUs that the calling thread may run on, on which the threads that
// it starts run too; the same text if the system does not tell.
std::string AllowedCpus();

// Converts a limit of Linux's control groups (version 2) into a number of CPUs, rounded up; 0 if
// there is no limit. `group` is this process's group in the tree of groups at `root`, such as
// "/a/b".
int GroupCpus(const std::string& root, std::string group);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_USABLE_CPUS_H_
