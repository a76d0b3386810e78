// Makes floats, and the signs of floats, from the fragments of a product.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_FLOATS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_FLOATS_H_

#include "larq_engine/kernels/cuda/bconv2d_epilogue_inputs.h"
#include "larq_engine/kernels/cuda/bconv2d_own.h"
#include "larq_engine/kernels/cuda/sum_steps.h"

namespace larq_engine::cuda {

// Loads the residual of a lane's values, before the values themselves are made.
LE_DEVICE PixelFragments::Tensor LoadResidual(const Bconv2dOutput& output,
                                              const PixelFragments& values) {
  const bool is_there =
      output.epilogue == Bconv2dOutput::kSum && output.sum.residual.values != nullptr;
  return is_there ? values.Load(output.sum.residual.values) : PixelFragments::Tensor{};
}
LE_DEVICE void RunOwnSteps(const Bconv2dOutput& output, const PixelFragments& values,
                           const PixelFragments::Tensor& residual) {
  if (output.epilogue == Bconv2dOutput::kSum) {
    RunSum(output.sum, values, residual);
  } else if (output.epilogue == Bconv2dOutput::kStore) {
    values.Store(output.sum.sum_out);
  } else {
    RunSteps(output.after, values);
  }
}

// Sets the bits of a lane's rows, at OwnColumn(i) for channel i, where is_minus(y, i) tells that
// the value y is negative or below the limit of the channel.
template <class IsMinus>
LE_DEVICE void SetOwnBits(const float (&y)[kOwnRows][kOwnChannels], uint32_t (&bits)[kOwnRows],
                          const IsMinus& is_minus) {
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kOwnChannels; ++i) {
      if (is_minus(y[h][i], i)) bits[h] |= 1u << OwnColumn(i);
    }
  }
}

// Finds the bits of a lane's values. A launch has limits for all values or for none, so that one
// branch decides for all of them.
LE_DEVICE void FindOwnBits(const PixelProgram& after, const float (&y)[kOwnRows][kOwnChannels],
                           int channel, uint32_t (&bits)[kOwnRows]) {
  if (after.limits == nullptr) {
    SetOwnBits(y, bits, [](float v, int) { return IsNegative(v); });
    return;
  }
  float limits[kOwnChannels];
  uint32_t signs[kOwnChannels];
  LoadOwn(after.limits + channel, limits);
  LoadOwn(after.signs + channel, signs);
  SetOwnBits(y, bits, [&](float v, int i) { return IsSmaller(v, signs[i], limits[i]); });
}

// Makes float outputs, and their signs, from two fragments of sums in whole words of channels. Each
// lane finishes the sums that it holds, without an exchange. `sums` has register e of fragment j at
// 4 j + e. `pixel`, `channel` and `column` (in the block) are the first ones of the lane, and
// `ones` those of its rows. `bits` receives the bits of each row that the lane has found.
template <bool kMayBeOutside, int kN>
LE_DEVICE void FinishOwnFloats(const Bconv2dArgs& a, int pixel, int pixels, int channel,
                               const EpilogueConstants<kN>& constants, int column,
                               const int32_t (&sums)[kOwnSums], const int32_t (&ones)[kOwnRows],
                               uint32_t (&bits)[kOwnRows]) {
  const Bconv2dOutput& output = a.output;
  float y[kOwnRows][kOwnChannels];
  bool inside[kOwnRows];
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    bits[h] = 0;
    inside[h] = pixel + 8 * h < pixels;
  }
  const int64_t at = static_cast<int64_t>(pixel) * a.out_channels + channel;
  const PixelFragments values{y, inside, at, a.out_channels, channel};
  int32_t zero_dot[kOwnChannels];
  LoadOwn(constants.integers + column, zero_dot);
  int32_t dots[kOwnRows][kOwnChannels];
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kOwnChannels; ++i) {
      const int32_t more = Dot(ones[h], sums[4 * (i / 2) + 2 * h + i % 2]);
      dots[h][i] = Dot(zero_dot[i], more);
    }
    if constexpr (kMayBeOutside) {
      const OutputPixel place = MakeOutputPixel(a, pixel + 8 * h);
      if (place.is_inner) continue;
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i)
        dots[h][i] -= Outside(a, place, channel + OwnColumn(i));
    }
  }
  // These loads are issued together, and only here, behind the code that needs the most registers.
  float multiplier[kOwnChannels];
  float bias[kOwnChannels];
  LoadOwn(constants.multiplier + column, multiplier);
  LoadOwn(constants.bias + column, bias);
  const PixelFragments::Tensor residual = LoadResidual(output, values);
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kOwnChannels; ++i) {
      y[h][i] = ToFloat(output, dots[h][i], multiplier[i], bias[i]);
    }
  }
  RunOwnSteps(output, values, residual);
  if (output.after.bits != nullptr) FindOwnBits(output.after, y, channel, bits);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_FLOATS_H_
