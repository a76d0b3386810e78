// What the rows of kernels.inc name.
#ifndef LARQ_ENGINE_KERNELS_CUDA_ALL_KERNELS_H_
#define LARQ_ENGINE_KERNELS_CUDA_ALL_KERNELS_H_

#include "larq_engine/kernels/cuda/bconv2d_mma.h"
#include "larq_engine/kernels/cuda/bconv2d_popc.h"
#include "larq_engine/kernels/cuda/bconv2d_small.h"
#include "larq_engine/kernels/cuda/max_pool.h"
#include "larq_engine/kernels/cuda/pixels.h"

#endif  // LARQ_ENGINE_KERNELS_CUDA_ALL_KERNELS_H_
