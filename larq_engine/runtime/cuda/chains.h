// Which operators one launch computes: the one that it is made for, and those that go on with each
// of its values as they come.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CHAINS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CHAINS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

struct Chain {
  std::vector<size_t> ops;   // of the program; the first is the one that the launch is made for
  std::vector<bool> stores;  // of each: whether others read its output, so that it is written
};

// For the shapes that the program has now. `is_shared` tells of values whether others than these
// operators may read them. Chains come in an order in which they can run.
std::vector<Chain> MakeChains(const Program& program, std::span<const size_t> ops,
                              const std::vector<bool>& is_shared, bool fuse);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CHAINS_H_
