#include "larq_engine/kernels/binary/x86/bgemm_popcnt.h"

#include "larq_engine/kernels/binary/bgemm_popcount64.h"

#if !defined(__POPCNT__)
#error "this file is built with the flags of ISA_COPTS[\"popcnt\"]"
#endif

namespace larq_engine {
namespace {

inline uint64_t Count(uint64_t x) { return static_cast<uint64_t>(__builtin_popcountll(x)); }

}  // namespace

void BgemmI32_4x2x64Popcnt(const BgemmArgs& args) { BgemmPopcount64Tile4<2, Count>(args); }

}  // namespace larq_engine
