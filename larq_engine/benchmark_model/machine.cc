#include "larq_engine/benchmark_model/machine.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
std::string CpuName(std::istream& cpuinfo) {
  std::string name;
  std::string implementer;
  std::map<std::string, int> cores;
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(':');
    const size_t start = line.find_first_not_of(" \t", colon == std::string::npos ? 0 : colon + 1);
    if (colon == std::string::npos || start == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = line.substr(start);
    if (name.empty() && (key == "model name" || key == "Hardware" || key == "Model")) name = value;
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part") ++cores[implementer + "/" + value];
  }
  std::string list;
  for (const auto& [core, count] : cores) {
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " x " + core;
  }
  if (name.empty()) name = "unknown";
  return list.empty() ? name : name + " (" + list + ")";
}

Machine DescribeMachine() {
  Machine machine;
  std::ifstream cpuinfo("/proc/cpuinfo");
  machine.cpu = CpuName(cpuinfo);
  utsname names;
  if (uname(&names) == 0) {
    machine.architecture = names.machine;
    machine.system = std::string(names.sysname) + " " + names.release;
  }
  machine.processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const CpuFeatures features = DetectCpuFeatures();
  for (int isa = 0; isa <= static_cast<int>(kLastIsa); ++isa) {
    if (features.Has(static_cast<Isa>(isa))) {
      machine.isas.push_back(IsaName(static_cast<Isa>(isa)));
    }
  }
  std::istringstream rows(larq_engine_kernels());
  for (std::string row; std::getline(rows, row, ',');) machine.kernels.push_back(row);
  return machine;
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  file >> size >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

int64_t PeakResidentBytes() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t{usage.ru_maxrss} * 1024 : 0;
}

}  // namespace larq_engine
