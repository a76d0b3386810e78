// The facts that are known about a tensor before anything runs.
#ifndef LARQ_ENGINE_RUNTIME_OPS_TENSOR_INFO_H_
#define LARQ_ENGINE_RUNTIME_OPS_TENSOR_INFO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "larq_engine/model_file/element_type.h"

namespace larq_engine {

struct TensorInfo {
  bool present = false;  // an optional input that the file leaves out is not
  std::string name;
  ElementType type = ElementType::kNone;
  std::vector<int> dims;
  std::vector<int> signature = {};  // dims as the file declares them, -1 for open; may be empty
  const void* constant = nullptr;   // the data, if it is part of the file
  size_t bytes = 0;                 // size of the constant
  std::vector<float> scales = {};   // none, one for the tensor, or one a channel
  std::vector<int> zero_points = {};
  int scale_axis = 0;  // axis of several scales
};

// Returns the bytes of one element, for all types that operators read and write.
size_t ElementBytes(ElementType type);

std::string DimsString(const std::vector<int>& dims);

// Returns the product of dims[0, count). Throws OpError if it exceeds what memory could hold.
int64_t CountElements(const std::vector<int>& dims, size_t count);

// Returns the size of the last dimension; 1 for a scalar.
int Channels(const std::vector<int>& dims);

// CountProducts returns how many products `values` sums of `depth` products have; AddProducts adds
// two such numbers. Both return the greatest number if the result exceeds it.
int64_t CountProducts(int64_t values, int64_t depth);
int64_t AddProducts(int64_t a, int64_t b);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_TENSOR_INFO_H_
