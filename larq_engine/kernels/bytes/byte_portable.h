// The row of table.cc that every CPU runs.
#ifndef LARQ_ENGINE_KERNELS_BYTES_BYTE_PORTABLE_H_
#define LARQ_ENGINE_KERNELS_BYTES_BYTE_PORTABLE_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_4x4x4Portable(const ByteArgs& args);
void ExpandPortable(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_BYTE_PORTABLE_H_
