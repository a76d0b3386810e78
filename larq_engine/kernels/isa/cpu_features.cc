#include "larq_engine/kernels/isa/cpu_features.h"

#include <algorithm>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace larq_engine {
#if defined(__x86_64__)
namespace {

#if defined(__linux__)
// Constants of arch_prctl that are newer than the C library's headers.
constexpr int kGetSupported = 0x1021;
constexpr int kRequestPermission = 0x1023;
constexpr int kTileData = 18;
#endif

// The CPU's answer to a CPUID leaf, or zeros for a leaf that it does not know.
struct Cpuid {
  explicit Cpuid(unsigned leaf) { __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx); }

  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

constexpr unsigned Bits(std::initializer_list<int> numbers) {
  unsigned bits = 0;
  for (int number : numbers) bits |= 1u << number;
  return bits;
}

bool HasAll(unsigned answer, unsigned bits) { return (answer & bits) == bits; }

// Returns the parts of the CPU's state that the operating system saves. XGETBV is written as bytes,
// because compilers know the instruction only with a flag.
unsigned SavedState() {
  unsigned low, high;
  __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Tells whether the CPU has AMX's tiles and products of bytes, and whether Linux can save tiles.
bool HasAmxint8(const Cpuid& features) {
#if defined(__linux__)
  if (!HasAll(features.edx, Bits({24, 25}))) return false;  // tiles, products of bytes
  uint64_t supported = 0;
  if (syscall(SYS_arch_prctl, kGetSupported, &supported) != 0) return false;
  return (supported >> kTileData & 1) != 0;
#else
  (void)features;
  return false;
#endif
}

// Tells whether the CPU is an Intel server with AVX-512. Only the model number tells.
bool IsIntelServer(const Cpuid& basic) {
  const Cpuid vendor(0);
  const bool is_intel = vendor.ebx == 0x756e6547 && vendor.edx == 0x49656e69;  // "Genu" "ineI"
  const unsigned family = basic.eax >> 8 & 0xf;
  const unsigned model = (basic.eax >> 4 & 0xf) | (basic.eax >> 12 & 0xf0);
  // Skylake and Cascade Lake, Ice Lake (two), Sapphire Rapids, Emerald Rapids, Granite Rapids
  // (two).
  constexpr unsigned kModels[] = {0x55, 0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae};
  return is_intel && family == 6 &&
         std::find(std::begin(kModels), std::end(kModels), model) != std::end(kModels);
}

constexpr unsigned kZen3And4 = 0x19;

bool IsAmdOfFamily(const Cpuid& basic, unsigned family) {
  const Cpuid vendor(0);
  const bool is_amd = vendor.ebx == 0x68747541 && vendor.edx == 0x69746e65;  // "Auth" "enti"
  const unsigned base = basic.eax >> 8 & 0xf;
  return is_amd && base == 0xf && base + (basic.eax >> 20 & 0xff) == family;
}

// Asks CPUID itself and not the compiler's __builtin_cpu_supports, because zig's always answers no.
// Each level requires the one below: no CPU lacks it, and a row may rely on it.
CpuFeatures AskX86() {
  constexpr unsigned kPopcnt = Bits({23}), kXgetbv = Bits({27}), kAvxAndFma = Bits({28, 12});
  constexpr unsigned kAvx2AndBmi2 = Bits({5, 8});
  constexpr unsigned kAvx512 = Bits({16, 17, 30, 31});  // F, DQ, BW, VL
  constexpr unsigned kAvx512vnni = Bits({11}), kAvx512vpopcntdq = Bits({14});
  constexpr unsigned kSavesAvx = Bits({1, 2});  // SSE's registers, and their upper halves
  constexpr unsigned kSavesAvx512 = kSavesAvx | Bits({5, 6, 7});  // masks, wider and more registers
  const Cpuid basic(1), extended(7);
  CpuFeatures features = {};
  if (!HasAll(basic.ecx, kPopcnt)) return features;
  features.Add(Isa::kPopcnt);
  const bool has_avx2 =
      HasAll(basic.ecx, kXgetbv | kAvxAndFma) && HasAll(extended.ebx, kAvx2AndBmi2);
  if (!has_avx2) return features;
  const unsigned saved = SavedState();
  if (!HasAll(saved, kSavesAvx)) return features;
  features.Add(Isa::kAvx2);
  if (!HasAll(extended.ebx, kAvx512) || !HasAll(saved, kSavesAvx512)) return features;
  features.Add(Isa::kAvx512bw);
  if (IsIntelServer(basic)) features.AddSecondMultiplier();
  if (!HasAll(extended.ecx, kAvx512vnni)) return features;
  features.Add(Isa::kAvx512vnni);
  if (!HasAll(extended.ecx, kAvx512vpopcntdq)) return features;
  features.Add(Isa::kAvx512vpopcntdq);
  if (IsAmdOfFamily(basic, kZen3And4)) features.SetZen4();  // a Zen 3 has no AVX-512
  if (HasAmxint8(extended)) features.Add(Isa::kAmxint8);
  return features;
}

}  // namespace
#endif

namespace {

CpuFeatures AskCpu() {
#if defined(__x86_64__)
  return AskX86();
#elif defined(__aarch64__) && defined(__linux__)
  // The kernel's bits for what the CPU has and the kernel saves; they are newer than the C
  // library's headers.
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
#elif defined(__wasm_simd128__)
  return {Isa::kSimd128};  // otherwise this module could not run
#else
  return {};
#endif
}

}  // namespace

CpuFeatures DetectCpuFeatures() {
  // The CPU is asked only once: in a virtual machine each question takes microseconds, and each
  // layer asks.
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
