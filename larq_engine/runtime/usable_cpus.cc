#include "larq_engine/runtime/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <thread>

namespace larq_engine {
namespace {

int AffinityCpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than the set can hold
}

// The line "0::<group>"; the others are of version 1.
std::string OwnGroup() {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "";
}

}  // namespace

int GroupCpus(const std::string& root, std::string group) {
  int cpus = 0;
  for (;;) {
    // Microseconds in each period, or the word max. A limit holds for all groups below, too.
    std::ifstream file(root + group + "/cpu.max");
    double quota = 0, period = 0;
    if (file >> quota >> period && quota > 0 && period > 0) {
      const double most = std::numeric_limits<int>::max();
      const int limit = static_cast<int>(std::clamp((quota + period - 1) / period, 1.0, most));
      cpus = cpus == 0 ? limit : std::min(cpus, limit);
    }
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return cpus;
    group.resize(slash);
  }
}

int UsableCpus() {
  const int limit = GroupCpus("/sys/fs/cgroup", OwnGroup());
  const int cpus = AffinityCpus();
  return std::max(1, limit == 0 ? cpus : std::min(cpus, limit));
}

}  // namespace larq_engine
