#include "larq_engine/runtime/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>

namespace larq_engine {
namespace {

int AffinityCpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than the set can hold
}

// Returns the start of a small file; empty if the file cannot be read.
std::string ReadText(const std::string& path) {
  char text[4096];
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return "";
  const size_t size = std::fread(text, 1, sizeof(text), file);
  std::fclose(file);
  return {text, size};
}

// Finds the process's group in the line "0::<group>"; the other lines are of version 1.
std::string OwnGroup() {
  const std::string lines = "\n" + ReadText("/proc/self/cgroup");
  const std::string mark = "\n0::";
  const size_t start = lines.find(mark);
  if (start == std::string::npos) return "";
  const size_t group = start + mark.size();
  return lines.substr(group, lines.find('\n', group) - group);
}

}  // namespace

int GroupCpus(const std::string& root, std::string group) {
  int cpus = 0;
  for (;;) {
    // The file holds the microseconds of a quota, or the word max, and those of a period. A limit
    // also holds for all groups below.
    double quota = 0, period = 0;
    const std::string text = ReadText(root + group + "/cpu.max");
    if (std::sscanf(text.c_str(), "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0) {
      const double most = std::numeric_limits<int>::max();
      const int limit = static_cast<int>(std::clamp((quota + period - 1) / period, 1.0, most));
      cpus = cpus == 0 ? limit : std::min(cpus, limit);
    }
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return cpus;
    group.resize(slash);
  }
}

std::string AllowedCpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return "";
  return {reinterpret_cast<const char*>(&cpus), sizeof(cpus)};
}

int UsableCpus() {
  const int limit = GroupCpus("/sys/fs/cgroup", OwnGroup());
  const int cpus = AffinityCpus();
  return std::max(1, limit == 0 ? cpus : std::min(cpus, limit));
}

}  // namespace larq_engine
