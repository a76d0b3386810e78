// The row of products of bytes that computes a layer of int8 values.
#ifndef LARQ_ENGINE_RUNTIME_CPU_INT8_ROW_H_
#define LARQ_ENGINE_RUNTIME_CPU_INT8_ROW_H_

#include <string_view>

#include "larq_engine/kernels/bytes/select.h"
#include "larq_engine/kernels/layers/select_product.h"

namespace larq_engine {

// Returns SelectInt8's choice among the ISAs that the system lets this process use.
inline const ByteRow& PermittedInt8Row(const Int8Conv2dSpec& spec, std::string_view kernel) {
  CpuFeatures cpu = AllowedFeatures(DetectCpuFeatures(), kernel);
  const ByteRow* row = &SelectInt8(cpu, spec, kernel);
  while (!PermitIsa(row->isa)) {
    cpu.Remove(row->isa);
    row = &SelectInt8(cpu, spec, kernel);
  }
  return *row;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_INT8_ROW_H_
