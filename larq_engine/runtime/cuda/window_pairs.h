// Windows that slide over images, in the form that kernels read, and pairs of operators whose
// windows one kernel computes.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_WINDOW_PAIRS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_WINDOW_PAIRS_H_

#include <optional>
#include <vector>

#include "larq_engine/kernels/common/window.h"
#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

cuda::ImageWindow MakeWindow(const Window2d& window, const std::vector<int>& in);

// Returns the window of a depthwise convolution, and its channels.
cuda::DepthwiseArgs MakeDepthwise(const Conv2dOp& op, const std::vector<int>& in);

// Return the arguments of a kernel that computes both operators at once, for the current shapes of
// the program, or nothing if there is no such kernel: a pool and a depthwise convolution of its
// output, or a depthwise convolution and a pointwise one of its output. The addresses of values,
// and the steps that follow, are not set.
std::optional<cuda::PooledDepthwiseArgs> FindPooledConv(const Program& program,
                                                        const ProgramOp& pool,
                                                        const ProgramOp& conv);
std::optional<cuda::DepthwisePointwiseArgs> FindDepthwisePointwise(const Program& program,
                                                                   const ProgramOp& depthwise,
                                                                   const ProgramOp& pointwise);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_WINDOW_PAIRS_H_
