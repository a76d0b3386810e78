#include "larq_engine/runtime/ops/broadcast.h"

#include <algorithm>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// Returns the size of the dimension that is `from_last` before the last one; 1 if there is none.
int SizeAt(const std::vector<int>& dims, size_t from_last) {
  return from_last < dims.size() ? dims[dims.size() - 1 - from_last] : 1;
}

}  // namespace

std::vector<int> BroadcastShape(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    const int size_a = SizeAt(a, i), size_b = SizeAt(b, i);
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      throw OpError("inputs: expected shapes whose sizes are equal or 1, got " + DimsString(a) +
                    " and " + DimsString(b) + "; resize the model's inputs to shapes that fit");
    }
    shape[shape.size() - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return shape;
}

bool HasOneAPixel(const std::vector<int>& dims, const std::vector<int>& result) {
  if (SizeAt(dims, 0) != 1) return false;
  for (size_t i = 1; i < result.size(); ++i) {
    if (SizeAt(dims, i) != SizeAt(result, i)) return false;
  }
  return true;
}

BroadcastPixels::BroadcastPixels(const std::vector<int>& dims, const std::vector<int>& result)
    : size_(static_cast<size_t>(SizeAt(dims, 0))) {
  size_t stride = size_;
  for (size_t i = 1; i < result.size(); ++i) {
    const int own = SizeAt(dims, i);
    const Axis axis{.size = SizeAt(result, i), .stride = own == 1 ? 0 : stride};
    stride *= static_cast<size_t>(own);
    if (axis.size == 1) continue;
    const bool continues =
        !axes_.empty() &&
        axis.stride == axes_.back().stride * static_cast<size_t>(axes_.back().size);
    if (continues) {
      axes_.back().size *= axis.size;
    } else {
      axes_.push_back(axis);
    }
  }
}

}  // namespace larq_engine
