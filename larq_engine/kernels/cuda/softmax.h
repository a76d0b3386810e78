// Softmax of rows, with a warp for each row.
#ifndef LARQ_ENGINE_KERNELS_CUDA_SOFTMAX_H_
#define LARQ_ENGINE_KERNELS_CUDA_SOFTMAX_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

// Computes exp(beta * (x - the greatest x)), divided by its sum. Each lane adds its own terms in
// order; then the lanes' sums are added in pairs.
LE_DEVICE void Softmax(const SoftmaxArgs& a) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t row = MyIndex() / kWarp;
  if (row >= a.rows) return;
  const float* const in = a.in + row * a.count;
  float* const out = a.out + row * a.count;

  float most = -__uint_as_float(0x7f800000u);
  for (int i = lane; i < a.count; i += kWarp) most = in[i] > most ? in[i] : most;
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(~0u, most, distance);
    most = other > most ? other : most;
  }
  float sum = 0;
  for (int i = lane; i < a.count; i += kWarp) {
    out[i] = expf(a.beta * (in[i] - most));
    sum += out[i];
  }
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(~0u, sum, distance);
  }
  for (int i = lane; i < a.count; i += kWarp) out[i] /= sum;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_SOFTMAX_H_
