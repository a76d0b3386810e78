#include "larq_engine/kernels/binary/bgemm_portable.h"

#include "larq_engine/kernels/binary/bgemm_popcount64.h"

namespace larq_engine {
namespace {

inline uint64_t Count(uint64_t x) {
#if defined(__x86_64__)
  // The x86-64 baseline has no POPCNT, and the compiler would call a table look-up in libgcc. So
  // bits are added up in pairs, nibbles and bytes; the product gathers the bytes in the top one.
  x -= (x >> 1) & 0x5555555555555555;
  x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return (x * 0x0101010101010101) >> 56;
#else
  return static_cast<uint64_t>(__builtin_popcountll(x));
#endif
}

}  // namespace

void BgemmI32_4x2x64Portable(const BgemmArgs& args) { BgemmPopcount64Tile4<2, Count>(args); }

}  // namespace larq_engine
