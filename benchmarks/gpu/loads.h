// Kernels that keep the tensor cores busy with products of bits, so that their highest rate can be
// measured.
#ifndef LARQ_ENGINE_BENCHMARKS_GPU_LOADS_H_
#define LARQ_ENGINE_BENCHMARKS_GPU_LOADS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/ptx.h"
#include "larq_engine/kernels/cuda/wgmma.h"

namespace larq_engine::cuda {

constexpr int kChains = 8;  // sums that do not depend on each other

// Pairs of bits that a warp multiplies in a round.
constexpr double kMmaPairs = double{16} * 8 * 256 * kChains;

__device__ inline void MultiplyByMma(int rounds, int* out) {
  FragmentC c[kChains] = {};
  const FragmentA a{{threadIdx.x, threadIdx.x * 3, threadIdx.x * 5, threadIdx.x * 7}};
  const FragmentB b{{threadIdx.x * 11, threadIdx.x * 13}};
  for (int i = 0; i < rounds; ++i) {
    LE_UNROLL
    for (int j = 0; j < kChains; ++j) MmaAnd(c[j], a, b);
  }
  int sum = 0;
  LE_UNROLL
  for (int j = 0; j < kChains; ++j) sum += c[j].r[0] + c[j].r[1] + c[j].r[2] + c[j].r[3];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Pairs of bits that a warpgroup multiplies in a round. It multiplies the same two matrices, 1024
// bits deep, again and again.
template <int kN>
constexpr double kWgmmaPairs = double{64} * kN * 1024;

constexpr int WgmmaSharedBytes(int n) { return (64 + n) * 128; }

template <int kN>
__device__ inline void MultiplyByWgmma(int rounds, int* out) {
  if constexpr (kHasWgmma) {
    LE_SHARED_DYNAMIC(shared);
    for (int i = threadIdx.x; i < (64 + kN) * 32; i += blockDim.x) {
      reinterpret_cast<uint32_t*>(shared)[i] = i * 2654435761u;
    }
    FenceForProducts();
    __syncthreads();
    int32_t d[kN / 2];
    LE_UNROLL
    for (int i = 0; i < kN / 2; ++i) d[i] = 0;
    const uint64_t rows = RowsDescriptor(SharedAddress(shared));
    const uint64_t columns = RowsDescriptor(SharedAddress(shared) + 64 * 128);
    for (int i = 0; i < rounds; ++i) {
      WgmmaFence(d);
      LE_UNROLL
      for (int k = 0; k < 4; ++k) WgmmaAnd<kN>(d, rows + 2 * k, columns + 2 * k);
      WgmmaCommit();
      WgmmaWait<1>(d);
    }
    WgmmaWait<0>(d);
    int sum = 0;
    LE_UNROLL
    for (int i = 0; i < kN / 2; ++i) sum += d[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_BENCHMARKS_GPU_LOADS_H_
