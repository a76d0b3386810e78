// Systems other than Linux.
#include <algorithm>
#include <thread>

#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {

int UsableCpus() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::string AllowedCpus() { return ""; }

}  // namespace larq_engine
