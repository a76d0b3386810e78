// Fetches the inputs of an epilogue while the product is computed: the constants of the channels go
// to shared memory, and the residual to the L2 cache.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_INPUTS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_INPUTS_H_

#include "larq_engine/kernels/cuda/bconv2d_lane.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// The constants of a block's kN channels, for lanes that finish the sums that they hold.
template <int kN>
struct EpilogueConstants {
  int32_t integers[kN];  // excess_limit where the epilogue is kThreshold, else zero_dot
  float multiplier[kN];  // multiplier and bias: only for floats
  float bias[kN];

  // Begins to copy the constants of the channels from `channel` on to address `to`. The group has
  // `channels` channels from there on. kThreads threads share the work; `thread` is the number of
  // this one.
  template <int kThreads>
  LE_DEVICE static void Copy(const Bconv2dArgs& a, uint32_t to, int channel, int channels,
                             int thread) {
    constexpr int kParts = kN / 4;  // pieces of 16 bytes
    const Bconv2dOutput& output = a.output;
    const bool has_limits = output.epilogue == Bconv2dOutput::kThreshold;
    const int parts = has_limits ? kParts : 3 * kParts;
    LE_NO_UNROLL
    for (int i = thread; i < parts; i += kThreads) {
      const void* from = i < 2 * kParts ? output.multiplier : output.bias;
      if (i < kParts) from = has_limits ? output.excess_limit : output.zero_dot;
      const int first = i % kParts * 4;
      const int64_t at = 4 * (static_cast<int64_t>(channel) + first);
      CopyAsync<16>(to + static_cast<uint32_t>(16 * i),
                    static_cast<const unsigned char*>(from) + at, first < channels ? 16 : 0);
    }
  }
};

// Prefetches the residual of a block's kM pixels and kN channels, by kThreads threads.
template <int kM, int kN, int kThreads>
LE_DEVICE void PrefetchResidual(const Bconv2dArgs& a, const BlockPlace& block, int thread) {
  const float* const residual = a.output.sum.residual.values;
  if (a.output.epilogue != Bconv2dOutput::kSum || residual == nullptr) return;
  constexpr int kParts = kN / kWarp;  // cache lines of 128 bytes
  const int pixels = a.batch * a.out_height * a.out_width;
  LE_NO_UNROLL
  for (int i = thread; i < kM * kParts; i += kThreads) {
    const int pixel = block.m0 + i / kParts;
    const int n = block.n0 + i % kParts * kWarp;
    if (pixel >= pixels || n >= a.group_out_channels) continue;
    PrefetchToSecondCache(residual + static_cast<int64_t>(pixel) * a.out_channels +
                          block.first_channel + n);
  }
}

// Fetches the constants, to an EpilogueConstants<kN> at `to`, and the residual.
template <int kM, int kN, int kThreads>
LE_DEVICE void FetchForEpilogue(const Bconv2dArgs& a, const BlockPlace& block, uint32_t to,
                                int thread) {
  if (!FinishesInRegisters(a)) return;
  EpilogueConstants<kN>::template Copy<kThreads>(a, to, block.first_channel + block.n0,
                                                 a.group_out_channels - block.n0, thread);
  PrefetchResidual<kM, kN, kThreads>(a, block, thread);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_INPUTS_H_
