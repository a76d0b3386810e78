// Chains of operators. One launch computes a chain: its first operator, and those that process each
// value that the first one makes, while it is still in a register.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CHAINS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CHAINS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

struct Chain {
  std::vector<size_t> ops;   // indices in the program; the launch is made for the first
  std::vector<bool> stores;  // for each operator: others read its output from memory
};

// Groups `ops` into chains for the program's current shapes. `is_shared` tells for each value
// whether operators outside `ops` may read it. The chains come in an order in which they can run.
std::vector<Chain> MakeChains(const Program& program, std::span<const size_t> ops,
                              const std::vector<bool>& is_shared, bool fuse);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CHAINS_H_
