// Instruction sets that kernel rows may ask for, and what this CPU and its operating system offer.
#ifndef LARQ_ENGINE_KERNELS_ISA_CPU_FEATURES_H_
#define LARQ_ENGINE_KERNELS_ISA_CPU_FEATURES_H_

#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace larq_engine {

enum class Isa : uint8_t {
#define LARQ_ENGINE_ISA(isa, name) isa,
#include "larq_engine/kernels/isa/isas.inc"
#undef LARQ_ENGINE_ISA
};

inline constexpr const char* kIsaNames[] = {
#define LARQ_ENGINE_ISA(isa, name) name,
#include "larq_engine/kernels/isa/isas.inc"
#undef LARQ_ENGINE_ISA
};

inline constexpr Isa kLastIsa = static_cast<Isa>(std::size(kIsaNames) - 1);

constexpr const char* IsaName(Isa isa) { return kIsaNames[static_cast<uint8_t>(isa)]; }

// A set of ISAs. It is a plain value, so that tests can ask for the choice of a CPU that they do
// not run on.
class CpuFeatures {
 public:
  constexpr CpuFeatures(std::initializer_list<Isa> isas) {
    for (Isa isa : isas) Add(isa);
  }
  constexpr void Add(Isa isa) { mask_ |= Bit(isa); }
  constexpr void Remove(Isa isa) { mask_ &= ~Bit(isa); }
  constexpr bool Has(Isa isa) const { return (mask_ & Bit(isa)) != 0; }
  // Returns the same CPU without the ISAs after `highest`, which include it.
  constexpr CpuFeatures UpTo(Isa highest) const {
    CpuFeatures features = *this;
    features.mask_ &= 2 * Bit(highest) - 1;
    return features;
  }

  // x86: tells whether a core multiplies two vectors of 512 bits a cycle, as those of Intel's
  // servers do. Such a core still counts the bits of only one vector a cycle, as cores with one
  // multiplier do. So the faster one of the two products depends on it.
  constexpr bool has_two_multipliers() const { return has_two_multipliers_; }
  constexpr void AddSecondMultiplier() { has_two_multipliers_ = true; }

  // x86: tells whether the CPU is a Zen 4 of AMD's, which computes vectors of 512 bits in halves.
  constexpr bool is_zen4() const { return is_zen4_; }
  constexpr void SetZen4() { is_zen4_ = true; }

 private:
  static constexpr uint32_t Bit(Isa isa) { return uint32_t{1} << static_cast<int>(isa); }
  uint32_t mask_ = Bit(Isa::kPortable);
  bool has_two_multipliers_ = false;
  bool is_zen4_ = false;
};

CpuFeatures DetectCpuFeatures();

// Must be called before code of an ISA runs; returns false if the system refuses. Linux saves AMX's
// tiles only for processes that have asked for them, and refuses if a thread's alternate signal
// stack is too small. From then on it refuses to set an alternate stack of less than 11 KB, so
// callers ask only if they need the ISA.
bool PermitIsa(Isa isa);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_ISA_CPU_FEATURES_H_
