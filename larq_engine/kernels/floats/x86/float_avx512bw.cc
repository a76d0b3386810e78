// Computes blocks of 64 filters, four vectors. At most eight columns take half a vector, which on a
// Zen 4 takes half the time.
#include "larq_engine/kernels/floats/x86/float_avx512bw.h"

#include "larq_engine/kernels/floats/x86/float_x86.h"

#if !defined(__AVX512BW__) || !defined(__FMA__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"] and ISA_COPTS[\"fma\"]"
#endif

namespace larq_engine {
namespace {

struct Vec16 {
  using Vector = __m512;
  static constexpr size_t kLanes = 16;
  static constexpr __mmask16 kAll = 0xffff;

  struct Lanes {
    explicit Lanes(size_t wanted)
        : mask(static_cast<__mmask16>(wanted < kLanes ? (1u << wanted) - 1 : kAll)) {}
    bool are_all() const { return mask == kAll; }
    __mmask16 mask;
  };

  static Vector Zero() { return _mm512_setzero_ps(); }
  static Vector Set(float value) { return _mm512_set1_ps(value); }
  static Vector Load(const float* from) { return _mm512_load_ps(from); }
  static Vector LoadAny(const float* from) { return _mm512_loadu_ps(from); }
  static Vector LoadSome(const float* from, Lanes lanes) {
    return _mm512_maskz_loadu_ps(lanes.mask, from);
  }
  static void StoreAny(float* to, Vector v) { _mm512_storeu_ps(to, v); }
  static void StoreSome(float* to, Lanes lanes, Vector v) {
    _mm512_mask_storeu_ps(to, lanes.mask, v);
  }
  static Vector Add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  // Uses masks with all lanes, because gcc 12 warns that the unmasked form reads uninitialized
  // memory.
  static Vector AtLeast(Vector least, Vector v) { return _mm512_maskz_max_ps(kAll, least, v); }
  static Vector AtMost(Vector most, Vector v) { return _mm512_maskz_min_ps(kAll, most, v); }
  static Vector MultiplyAdd(Vector a, Vector b, Vector sum) { return _mm512_fmadd_ps(a, b, sum); }
};

static_assert(Vec16::kLanes == kFloatLanes);

constexpr size_t kColumns = 4 * kFloatLanes;

}  // namespace

void FloatPixels64Avx512bw(const FloatArgs& args) {
  size_t column = 0;
  for (; column + 3 * kFloatLanes < args.n; column += kColumns) {
    MultiplyColumns<Vec16, 4>(args, column);
  }
  if (column + 2 * kFloatLanes < args.n) return MultiplyColumns<Vec16, 3>(args, column);
  if (column + kFloatLanes < args.n) return MultiplyColumns<Vec16, 2>(args, column);
  if (column + Vec8::kLanes < args.n) {
    if (AreInLine(args)) return MultiplyInLine<Vec16>(args, column);
    return MultiplyColumns<Vec16, 1>(args, column);
  }
  if (column < args.n) MultiplyFewColumns(args, column);
}

void FloatChannelsAvx512bw(const FloatArgs& args) {
  size_t column = MultiplyAnyLines<Vec16>(args);
  for (; column + 3 * kFloatLanes < args.n; column += kColumns) {
    MultiplyChannels<Vec16, 4>(args, column);
  }
  for (; column < args.n; column += kFloatLanes) MultiplyChannels<Vec16, 1>(args, column);
}

}  // namespace larq_engine
