#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {

bool IsKnownToKeepUpWithHosts(Isa isa) {
  switch (isa) {
    case Isa::kAvx2:
    case Isa::kAvx512bw:
    case Isa::kAvx512vnni:
    case Isa::kAmxint8:
      return true;
    default:
      return false;
  }
}

std::string Obstacle(Isa isa) {
  const std::string lacks = std::string("this CPU has no ") + IsaName(isa);
  return isa == Isa::kAmxint8 ? lacks + ", or the system withholds it" : lacks;
}

std::string WhyNoKernel(std::string_view forced, const Isa* isa, std::string_view names) {
  const std::string kernel = "kernel '" + std::string(forced) + "'";
  return (isa == nullptr ? "unknown " + kernel : kernel + " cannot run: " + Obstacle(*isa)) +
         "; expected one of " + std::string(kAutoKernel) + ", " + std::string(kReferenceKernel) +
         ", " + std::string(names);
}

}  // namespace larq_engine
