// Instruction sets that kernel rows may ask for, and what this CPU and its operating system offer.
#ifndef LARQ_ENGINE_KERNELS_ISA_CPU_FEATURES_H_
#define LARQ_ENGINE_KERNELS_ISA_CPU_FEATURES_H_

#include <cstdint>
#include <initializer_list>

namespace larq_engine {

// For each architecture, a later ISA includes the earlier ones.
enum class Isa : uint8_t {
  kPortable,         // what the compiler assumes of every CPU of the architecture
  kPopcnt,           // x86: the POPCNT instruction (Nehalem, Barcelona and later)
  kAvx2,             // x86: AVX2 and FMA (Haswell, Zen and later)
  kAvx512bw,         // x86: AVX-512 F, BW, DQ and VL (Skylake-X, Cascade Lake and later)
  kAvx512vnni,       // x86: those and VNNI, products of bytes (Cascade Lake, Zen 4 and later)
  kAvx512vpopcntdq,  // x86: those and VPOPCNTDQ (Ice Lake, Sapphire Rapids, Zen 4 and later)
  kAmxint8,          // x86: those and AMX's products of bytes (Sapphire Rapids and later)
  kNeon,             // 64-bit ARM: Advanced SIMD, which every one has (Cortex-A53, A72 and later)
  kDotprod,          // 64-bit ARM: UDOT (Cortex-A55, A76, Apple A11 and later)
  kSme2,             // 64-bit ARM: the outer product BMOPA in streaming mode (Apple M4, Arm C1)
};

inline constexpr Isa kLastIsa = Isa::kSme2;

// Returns the ISA's name, with which the names of its kernel rows end.
const char* IsaName(Isa isa);

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
