// Windows that slide over images, as kernels have them, and which two of them one kernel slides.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_WINDOW_PAIRS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_WINDOW_PAIRS_H_

#include <optional>
#include <vector>

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/runtime/ops/window2d.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

cuda::ImageWindow MakeWindow(const Window2d& window, const std::vector<int>& in);

// The window of a convolution, and its channels.
cuda::DepthwiseArgs MakeDepthwise(const Conv2dOp& op, const std::vector<int>& in);

// What a kernel computes at once of a pool, or of a depthwise convolution, and of the convolution
// of what it makes, for the shapes that the program has now; none where there is no such kernel.
// What is missing are the places of values, and what becomes of the results.
std::optional<cuda::PooledDepthwiseArgs> FindPooledConv(const Program& program,
                                                        const ProgramOp& pool,
                                                        const ProgramOp& conv);
std::optional<cuda::DepthwisePointwiseArgs> FindDepthwisePointwise(const Program& program,
                                                                   const ProgramOp& depthwise,
                                                                   const ProgramOp& pointwise);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_WINDOW_PAIRS_H_
