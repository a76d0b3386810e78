// A binary convolution as its kernels for GPUs are given it; see Bconv2dArgs.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_BCONV2D_OPERANDS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_BCONV2D_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/cuda/bconv2d_args.h"

namespace larq_engine {

// Of an output channel in a plane, with the zeros at the end.
size_t FilterWords(const Bconv2dSpec& spec);

// `filter` as for Bconv2d.
std::vector<uint32_t> PadFilter(const Bconv2dSpec& spec, const uint32_t* filter);
std::vector<int32_t> FilterOnes(const Bconv2dSpec& spec, const uint32_t* filter);

// By filter_ones, as Bconv2dOutput has them.
std::vector<int32_t> ZeroDots(const Bconv2dSpec& spec, std::vector<int32_t> filter_ones);
std::vector<int32_t> MoreLimits(const Bconv2dSpec& spec, const std::vector<int32_t>& dot_limit,
                                std::vector<int32_t> filter_ones);

// Arguments without addresses and without an output, for an input of these dimensions.
cuda::Bconv2dArgs MakeGeometry(const Bconv2dSpec& spec, const std::vector<int>& in);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_BCONV2D_OPERANDS_H_
