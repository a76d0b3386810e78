// Makes floats, and the signs of floats, from the fragments of a product.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_FLOATS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_FLOATS_H_

#include "larq_engine/kernels/cuda/bconv2d_epilogue_inputs.h"
#include "larq_engine/kernels/cuda/bconv2d_lane.h"
#include "larq_engine/kernels/cuda/sum_steps.h"

namespace larq_engine::cuda {

// Loads the residual of a lane's values, before the values themselves are made.
LE_DEVICE PixelFragments::Tensor LoadResidual(const Bconv2dOutput& output,
                                              const PixelFragments& values) {
  const bool is_there =
      output.epilogue == Bconv2dOutput::kSum && output.sum.residual.values != nullptr;
  return is_there ? values.Load(output.sum.residual.values) : PixelFragments::Tensor{};
}
LE_DEVICE void RunLaneSteps(const Bconv2dOutput& output, const PixelFragments& values,
                            const PixelFragments::Tensor& residual) {
  if (output.epilogue == Bconv2dOutput::kSum) {
    RunSum(output.sum, values, residual);
  } else if (output.epilogue == Bconv2dOutput::kStore) {
    values.Store(output.sum.sum_out);
  } else {
    RunSteps(output.after, values);
  }
}

// Sets bit LaneColumn(i) of bits[h] if is_minus(y[h][i], i): the value is negative or, with limits,
// below its channel's limit (see PixelProgram::bits).
template <class IsMinus>
LE_DEVICE void SetLaneBits(const float (&y)[kLaneRows][kLaneChannels], uint32_t (&bits)[kLaneRows],
                           const IsMinus& is_minus) {
  LE_UNROLL
  for (int h = 0; h < kLaneRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kLaneChannels; ++i) {
      if (is_minus(y[h][i], i)) bits[h] |= 1u << LaneColumn(i);
    }
  }
}

// Finds the bits of a lane's values. A launch has limits for all values or for none, so that one
// branch decides for all of them.
LE_DEVICE void FindLaneBits(const PixelProgram& after, const float (&y)[kLaneRows][kLaneChannels],
                            int channel, uint32_t (&bits)[kLaneRows]) {
  if (after.limits == nullptr) {
    SetLaneBits(y, bits, [](float v, int) { return IsNegative(v); });
    return;
  }
  float limits[kLaneChannels];
  uint32_t signs[kLaneChannels];
  LoadLaneChannels(after.limits + channel, limits);
  LoadLaneChannels(after.signs + channel, signs);
  SetLaneBits(y, bits, [&](float v, int i) { return IsSmaller(v, signs[i], limits[i]); });
}

// Makes float outputs, and their signs, from the sums of two fragments. The number of a group's
// channels must be a multiple of 32. Each lane finishes the sums that it holds, without an
// exchange. `sums` has register e of fragment j at 4 j + e. `pixel`, `channel` and `column` are
// where the lane begins (`column` within the block). `ones[h]` is the number of 1 bits in the input
// of row h, weighted by the planes of the image. `bits[h]` receives the bits of row h that the lane
// has found.
template <bool kMayBeOutside, int kN>
LE_DEVICE void FinishLaneFloats(const Bconv2dArgs& a, int pixel, int pixels, int channel,
                                const EpilogueConstants<kN>& constants, int column,
                                const int32_t (&sums)[kLaneSums], const int32_t (&ones)[kLaneRows],
                                uint32_t (&bits)[kLaneRows]) {
  const Bconv2dOutput& output = a.output;
  float y[kLaneRows][kLaneChannels];
  bool inside[kLaneRows];
  LE_UNROLL
  for (int h = 0; h < kLaneRows; ++h) {
    bits[h] = 0;
    inside[h] = pixel + 8 * h < pixels;
  }
  const int64_t at = static_cast<int64_t>(pixel) * a.out_channels + channel;
  const PixelFragments values{y, inside, at, a.out_channels, channel};
  int32_t zero_dot[kLaneChannels];
  LoadLaneChannels(constants.integers + column, zero_dot);
  int32_t dots[kLaneRows][kLaneChannels];
  LE_UNROLL
  for (int h = 0; h < kLaneRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kLaneChannels; ++i) {
      const int32_t excess = Dot(ones[h], sums[4 * (i / 2) + 2 * h + i % 2]);
      dots[h][i] = Dot(zero_dot[i], excess);
    }
    if constexpr (kMayBeOutside) {
      const OutputPixel place = MakeOutputPixel(a, pixel + 8 * h);
      if (place.is_inner) continue;
      LE_UNROLL
      for (int i = 0; i < kLaneChannels; ++i)
        dots[h][i] -= OnesOfTapsOutside(a, place, channel + LaneColumn(i));
    }
  }
  // These loads are issued together, and only here, behind the code that needs the most registers.
  float multiplier[kLaneChannels];
  float bias[kLaneChannels];
  LoadLaneChannels(constants.multiplier + column, multiplier);
  LoadLaneChannels(constants.bias + column, bias);
  const PixelFragments::Tensor residual = LoadResidual(output, values);
  LE_UNROLL
  for (int h = 0; h < kLaneRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kLaneChannels; ++i) {
      y[h][i] = ToFloat(output, dots[h][i], multiplier[i], bias[i]);
    }
  }
  RunLaneSteps(output, values, residual);
  if (output.after.bits != nullptr) FindLaneBits(output.after, y, channel, bits);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_FLOATS_H_
