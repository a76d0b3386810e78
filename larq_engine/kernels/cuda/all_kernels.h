// Includes the kernels that the rows of kernels.inc name.
#ifndef LARQ_ENGINE_KERNELS_CUDA_ALL_KERNELS_H_
#define LARQ_ENGINE_KERNELS_CUDA_ALL_KERNELS_H_

#include "larq_engine/kernels/cuda/bconv2d_halo.h"
#include "larq_engine/kernels/cuda/bconv2d_mma.h"
#include "larq_engine/kernels/cuda/bconv2d_mma8.h"
#include "larq_engine/kernels/cuda/bconv2d_popc.h"
#include "larq_engine/kernels/cuda/bconv2d_small.h"
#include "larq_engine/kernels/cuda/bconv2d_tma.h"
#include "larq_engine/kernels/cuda/bconv2d_wgmma.h"
#include "larq_engine/kernels/cuda/bmatmul.h"
#include "larq_engine/kernels/cuda/conv2d.h"
#include "larq_engine/kernels/cuda/depthwise.h"
#include "larq_engine/kernels/cuda/depthwise_pointwise.h"
#include "larq_engine/kernels/cuda/pixels.h"
#include "larq_engine/kernels/cuda/pools.h"
#include "larq_engine/kernels/cuda/signed_dense.h"
#include "larq_engine/kernels/cuda/softmax.h"

#endif  // LARQ_ENGINE_KERNELS_CUDA_ALL_KERNELS_H_
