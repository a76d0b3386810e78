#include "benchmarks/model/machine.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

#include "larq_engine/kernels/cpu_features.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

// x86 names its model. ARM tells numbers: who made the core, and which one it is.
std::string CpuName() {
  std::map<std::string, std::string> fields;  // the first value of each
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string::npos) fields.emplace(key, line.substr(value));
  }
  for (const char* key : {"model name", "Hardware", "Model"}) {
    if (fields.contains(key)) return fields[key];
  }
  if (fields.contains("CPU part")) {
    return "implementer " + fields["CPU implementer"] + " part " + fields["CPU part"];
  }
  return "unknown";
}

}  // namespace

Machine DescribeMachine() {
  Machine machine;
  machine.cpu = CpuName();
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
