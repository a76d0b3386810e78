// The host's choice of the epilogue of a binary convolution.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUES_H_

#include <cstdint>
#include <optional>

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/kernels/cuda/sum_program.h"

namespace larq_engine::cuda {

// Returns the steps of `program` as a SumProgram, or nothing if it has no place for one of them.
std::optional<SumProgram> MakeSumProgram(const PixelProgram& program);

// Returns the greatest `excess` (see Bconv2dOutput) for which a channel's dot product is not
// smaller than its limit.
int32_t ExcessLimit(int32_t depth, int32_t dot_limit, int32_t filter_ones);

// Returns the divisors of the sizes in `args`. A size may be 0; nothing is then divided by it.
Bconv2dDivisors DivisorsOf(const Bconv2dArgs& args);

// Returns `args` with the shortest epilogue that computes the output. All other fields must be set.
Bconv2dArgs WithEpilogue(Bconv2dArgs args);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUES_H_
