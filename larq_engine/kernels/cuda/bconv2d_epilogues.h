// What follows the product of a binary convolution in its kernel, chosen by the host.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUES_H_

#include <cstdint>
#include <optional>

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/kernels/cuda/sum_program.h"

namespace larq_engine::cuda {

// The same steps, where a SumProgram has a place for each of them.
std::optional<SumProgram> MakeSumProgram(const PixelProgram& program);

// The greatest number of bits that differ, less the ones of the filter, where a channel's dot
// product is not smaller than its limit.
int32_t MoreLimit(int32_t depth, int32_t dot_limit, int32_t filter_ones);

// Of sizes that may be 0, by which nothing is divided then.
Bconv2dDivisors DivisorsOf(const Bconv2dArgs& args);

// With the shortest epilogue that computes the output. All else that it asks for is there.
Bconv2dArgs WithEpilogue(Bconv2dArgs args);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUES_H_
