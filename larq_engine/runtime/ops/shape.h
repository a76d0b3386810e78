// The shape of a value that passes between operators.
#ifndef LARQ_ENGINE_RUNTIME_OPS_SHAPE_H_
#define LARQ_ENGINE_RUNTIME_OPS_SHAPE_H_

#include <cstdint>
#include <vector>

namespace larq_engine {

struct TensorShape {
  std::vector<int> dims;
  int64_t channels = 0;  // channels of bits in the last dimension; 0 if not known
  int64_t bits = 1;      // number for each of those channels
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_SHAPE_H_
