#include "larq_engine/kernels/cpu_features.h"

namespace larq_engine {

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return "portable";
    case Isa::kPopcnt:
      return "popcnt";
  }
  return "unknown";
}

CpuFeatures DetectCpuFeatures() {
#if defined(__x86_64__)
  __builtin_cpu_init();  // the plug-in's static initialisers may run before the compiler's own
  if (__builtin_cpu_supports("popcnt")) return {Isa::kPopcnt};
#endif
  return {};
}

}  // namespace larq_engine
