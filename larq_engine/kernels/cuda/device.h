// The interface that kernels are written against: CUDA where nvcc compiles them, the emulated GPU
// of the tests elsewhere. Kernels use nothing of CUDA but what this header and ptx.h name.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DEVICE_H_
#define LARQ_ENGINE_KERNELS_CUDA_DEVICE_H_

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define LE_DEVICE __device__ __forceinline__
// An array stays in registers only if all of its indices are constants after unrolling.
#define LE_UNROLL _Pragma("unroll")
// If a loop is unrolled, values that its rounds share may need more registers than there are.
#define LE_NO_UNROLL _Pragma("unroll 1")
#define LE_SHARED_DYNAMIC(name) extern __shared__ __align__(1024) unsigned char name[]
#else
#include "larq_engine/kernels/cuda/emulated_gpu.h"
#define LE_DEVICE inline
#define LE_UNROLL
#define LE_NO_UNROLL
#define LE_SHARED_DYNAMIC(name) unsigned char* const name = emulated_gpu::SharedMemory()
#endif

#endif  // LARQ_ENGINE_KERNELS_CUDA_DEVICE_H_
