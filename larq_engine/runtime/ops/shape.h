// The shape of what passes between operators.
#ifndef LARQ_ENGINE_RUNTIME_OPS_SHAPE_H_
#define LARQ_ENGINE_RUNTIME_OPS_SHAPE_H_

#include <cstdint>
#include <vector>

namespace larq_engine {

struct TensorShape {
  std::vector<int> dims;
  int64_t channels = 0;  // that a tensor of bits holds in its last dimension; 0 where not known
  int64_t bits = 1;      // of each of those channels
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_SHAPE_H_
