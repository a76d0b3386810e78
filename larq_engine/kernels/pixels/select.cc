#include "larq_engine/kernels/pixels/select.h"

#include "larq_engine/kernels/isa/choose_row.h"
#include "larq_engine/kernels/pixels/table.h"

namespace larq_engine {

const PixelOps& SelectPixelOps(CpuFeatures cpu) { return *HighestRow(PixelOpsRows(), cpu).ops; }

}  // namespace larq_engine
