#include "larq_engine/runtime/ops/tensor_info.h"

#include <limits>

#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

size_t ElementBytes(ElementType type) { return static_cast<size_t>(BitsOf(type)) / 8; }

std::string DimsString(const std::vector<int>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

int64_t CountElements(const std::vector<int>& dims, size_t count) {
  int64_t elements = 1;
  bool overflow = false;
  for (size_t i = 0; i < count; ++i) {
    if (dims[i] < 0) {
      throw OpError("shape " + DimsString(dims) +
                    ": expected sizes of at least 0; the file is "
                    "corrupted or a dimension was never set (resize the input)");
    }
    overflow |= __builtin_mul_overflow(elements, int64_t{dims[i]}, &elements);
  }
  // An eighth of memory is the limit, so that bytes of any element type can be counted as well.
  if (overflow || elements > static_cast<int64_t>(kMaxMemory / 8)) {
    throw OpError("shape " + DimsString(dims) +
                  ": expected a product that memory can hold; the "
                  "file is corrupted or the input was resized too far");
  }
  return elements;
}

int Channels(const std::vector<int>& dims) { return dims.empty() ? 1 : dims.back(); }

namespace {

constexpr int64_t kMostProducts = std::numeric_limits<int64_t>::max();

}  // namespace

int64_t CountProducts(int64_t values, int64_t depth) {
  int64_t products = 0;
  return __builtin_mul_overflow(values, depth, &products) ? kMostProducts : products;
}

int64_t AddProducts(int64_t a, int64_t b) {
  int64_t products = 0;
  return __builtin_add_overflow(a, b, &products) ? kMostProducts : products;
}

}  // namespace larq_engine
