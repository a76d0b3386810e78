#include "larq_engine/kernels/cpu_features.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace larq_engine {
#if defined(__x86_64__)
namespace {

#if defined(__linux__)
// Of arch_prctl, newer than the C library's headers.
constexpr int kGetSupported = 0x1021;
constexpr int kRequestPermission = 0x1023;
constexpr int kTileData = 18;
#endif

// Whether the CPU has AMX's tiles and products of bytes, and Linux can save tiles.
bool HasAmxint8() {
#if defined(__linux__)
  constexpr unsigned kAmxTileAndInt8 = 1u << 24 | 1u << 25;
  constexpr int kLeafOfFeatures = 7;
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid_count(kLeafOfFeatures, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kAmxTileAndInt8) != kAmxTileAndInt8) return false;
  uint64_t supported = 0;
  if (syscall(SYS_arch_prctl, kGetSupported, &supported) != 0) return false;
  return (supported >> kTileData & 1) != 0;
#else
  return false;
#endif
}

}  // namespace
#endif

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return "portable";
    case Isa::kPopcnt:
      return "popcnt";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512bw:
      return "avx512bw";
    case Isa::kAvx512vnni:
      return "avx512vnni";
    case Isa::kAvx512vpopcntdq:
      return "avx512vpopcntdq";
    case Isa::kAmxint8:
      return "amxint8";
    case Isa::kNeon:
      return "neon";
    case Isa::kDotprod:
      return "dotprod";
    case Isa::kSme2:
      return "sme2";
  }
  return "unknown";
}

namespace {

CpuFeatures AskCpu() {
#if defined(__x86_64__)
  __builtin_cpu_init();  // the plug-in's static initialisers may run before the compiler's own
  // Of the compiler's answers, those on wide registers include what the operating system saves.
  // Each level asks for the one below: no CPU lacks it, and a row may count on it.
  CpuFeatures features = {};
  if (!__builtin_cpu_supports("popcnt")) return features;
  features.Add(Isa::kPopcnt);
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return features;
  features.Add(Isa::kAvx2);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return features;
  }
  features.Add(Isa::kAvx512bw);
  if (!__builtin_cpu_supports("avx512vnni")) return features;
  features.Add(Isa::kAvx512vnni);
  if (!__builtin_cpu_supports("avx512vpopcntdq")) return features;
  features.Add(Isa::kAvx512vpopcntdq);
  if (HasAmxint8()) features.Add(Isa::kAmxint8);
  return features;
#elif defined(__aarch64__) && defined(__linux__)
  // The kernel's names for what the CPU has and the kernel saves; newer than the C library's
  // headers.
  constexpr unsigned long kHwcapAsimddp = 1ul << 20;
  constexpr unsigned long kHwcap2Sme2 = 1ul << 37;
  constexpr unsigned long kHwcap2SmeBi32i32 = 1ul << 40;
  CpuFeatures features = {Isa::kNeon};
  if ((getauxval(AT_HWCAP) & kHwcapAsimddp) == 0) return features;
  features.Add(Isa::kDotprod);
  const unsigned long hwcap2 = getauxval(AT_HWCAP2);
  if ((hwcap2 & kHwcap2Sme2) != 0 && (hwcap2 & kHwcap2SmeBi32i32) != 0) features.Add(Isa::kSme2);
  return features;
#elif defined(__aarch64__) && defined(__APPLE__)
  return {Isa::kNeon, Isa::kDotprod};  // SME2 was never tried there
#elif defined(__aarch64__)
  return {Isa::kNeon};
#else
  return {};
#endif
}

}  // namespace

CpuFeatures DetectCpuFeatures() {
  // Once: in a virtual machine each question to the CPU takes microseconds, and each layer asks.
  static const CpuFeatures features = AskCpu();
  return features;
}

bool PermitIsa(Isa isa) {
#if defined(__x86_64__) && defined(__linux__)
  if (isa == Isa::kAmxint8) {
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }
#else
  (void)isa;
#endif
  return true;
}

}  // namespace larq_engine
