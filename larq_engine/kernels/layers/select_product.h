// Chooses how a layer is multiplied: by a row of binary products, one for each pair of planes, or
// by a row of products of bytes. The choice is a pure function of the CPU, the layer and the forced
// name.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_SELECT_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_LAYERS_SELECT_PRODUCT_H_

#include <string>
#include <string_view>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"

namespace larq_engine {

struct ProductChoice {
  const BgemmRow* planes = nullptr;
  const ByteRow* bytes = nullptr;  // null unless `planes` is
  double cycles = 0;               // expected for one output pixel, over all groups
  std::string error;               // why there is neither, with the names that were expected

  bool has_row() const { return planes != nullptr || bytes != nullptr; }
};

// Returns the cheapest row that this CPU runs, or the row named `forced`: as SelectBgemm does, but
// over the rows of both products. For a single output pixel, as in dense layers of one image, the
// time to read the filters matters most. Bytes take as much memory as eight planes, and weights of
// more bits than a row takes are read twice.
ProductChoice SelectProduct(CpuFeatures cpu, const Bconv2dSpec& spec,
                            std::string_view forced = kAutoKernel, bool one_pixel = false);

// Returns the ISA of the row of this name, of either product; null if there is none.
const Isa* IsaOfKernel(std::string_view name);

// Returns the features of the CPU that rows of other contracts may use. A kernel row forced by name
// stands for a CPU that has no higher ISA than that row's, and the reference for a CPU that has
// none. An unknown name throws std::invalid_argument.
CpuFeatures AllowedFeatures(CpuFeatures cpu, std::string_view forced);

// Returns the names of all rows that this CPU runs, with the separator between them.
std::string NamesOfKernels(CpuFeatures cpu, std::string_view separator);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_SELECT_PRODUCT_H_
