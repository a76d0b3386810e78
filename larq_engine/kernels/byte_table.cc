#include "larq_engine/kernels/byte_table.h"

#include "larq_engine/kernels/byte_portable.h"
#if defined(__x86_64__)
#include "larq_engine/kernels/x86/byte_avx512vnni.h"
#endif

namespace larq_engine {
namespace {

constexpr ByteRow kByteRows[] = {
    {.name = "bytes_i32_4x4x4_portable",
     .isa = Isa::kPortable,
     .mr = 4,
     .nr = 4,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 7,
     .macs_per_cycle = 1,
     .expanded_per_cycle = 1,
     .fn = BytesI32_4x4x4Portable,
     .expand = ExpandPortable},
#if defined(__x86_64__)
    {.name = "bytes_i32_12x32x4_avx512vnni",
     .isa = Isa::kAvx512vnni,
     .mr = 12,
     .nr = 32,
     .kr = 4,
     .in_planes = 8,
     .weight_planes = 7,
     .macs_per_cycle = 200,
     .expanded_per_cycle = 40,
     .fn = BytesI32_12x32x4Avx512vnni,
     .expand = ExpandAvx512vnni},
#endif
};

}  // namespace

std::span<const ByteRow> ByteRows() { return kByteRows; }

}  // namespace larq_engine
