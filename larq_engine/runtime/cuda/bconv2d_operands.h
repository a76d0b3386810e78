// Arguments and constants of a binary convolution in the layouts that the kernels for GPUs read;
// see Bconv2dArgs.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_BCONV2D_OPERANDS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_BCONV2D_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/cuda/bconv2d_args.h"

namespace larq_engine {

// Returns the words of an output channel's filter in one bit plane, with the zeros that fill it up.
size_t FilterWords(const Bconv2dSpec& spec);

// Return the filter, and the ones of each output channel, as Bconv2dArgs has them. `filter` is as
// for Bconv2d.
std::vector<uint32_t> PadFilter(const Bconv2dSpec& spec, const uint32_t* filter);
std::vector<int32_t> FilterOnes(const Bconv2dSpec& spec, const uint32_t* filter);

// Return zero_dot and excess_limit of Bconv2dOutput, computed from `filter_ones`.
std::vector<int32_t> ZeroDots(const Bconv2dSpec& spec, std::vector<int32_t> filter_ones);
std::vector<int32_t> ExcessLimits(const Bconv2dSpec& spec, const std::vector<int32_t>& dot_limit,
                                  std::vector<int32_t> filter_ones);

// Returns arguments for an input of dimensions `in`; addresses and the output are not set.
cuda::Bconv2dArgs MakeGeometry(const Bconv2dSpec& spec, const std::vector<int>& in);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_BCONV2D_OPERANDS_H_
