// Chooses how a layer is multiplied: by a row of binary products, one for each pair of planes, or
// by a row of products of bytes. A pure function of the CPU, the layer and the forced name.
#ifndef LARQ_ENGINE_KERNELS_SELECT_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_SELECT_PRODUCT_H_

#include <string>
#include <string_view>

#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/byte_table.h"
#include "larq_engine/kernels/select.h"

namespace larq_engine {

struct ProductChoice {
  const BgemmRow* planes = nullptr;
  const ByteRow* bytes = nullptr;  // where `planes` is none
  double cycles = 0;               // that one output pixel is expected to take, of all groups
  std::string error;               // why there is neither; names what was expected

  bool has_row() const { return planes != nullptr || bytes != nullptr; }
};

// What one output pixel is expected to take, of all groups, in L1: in a full tile, or alone.
double PlanesCycles(const BgemmRow& row, const Bconv2dSpec& spec, bool one_pixel = false);
double BytesCycles(CpuFeatures cpu, const ByteRow& row, const Bconv2dSpec& spec,
                   bool one_pixel = false);

// The cheapest row that this CPU runs, or the row named `forced`: as SelectBgemm, over the rows of
// both products. Of one output pixel, as dense layers of one image have, it matters most how long
// reading the filters takes: bytes are eight planes, and those of weights of
// more bits than a row takes are read twice.
ProductChoice SelectProduct(CpuFeatures cpu, const Bconv2dSpec& spec,
                            std::string_view forced = kAutoKernel, bool one_pixel = false);

// The ISA of the row of this name, of either product; none of another name.
const Isa* IsaOfKernel(std::string_view name);

// The highest ISA that rows of other contracts may have: a kernel row forced by name stands for a
// CPU that has no more than that row's ISA, the reference for one that has nothing. An unknown name
// is a std::invalid_argument.
Isa HighestIsa(std::string_view forced);

// The names of all rows that this CPU runs, with the separator between them.
std::string NamesOfKernels(CpuFeatures cpu, std::string_view separator);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SELECT_PRODUCT_H_
