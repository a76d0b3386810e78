// The steps of a SumProgram on the device, one behind the other: what kernels of binary
// convolutions compute most often is short code without a loop. The arithmetic is that of
// pixel_steps.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_SUM_STEPS_H_
#define LARQ_ENGINE_KERNELS_CUDA_SUM_STEPS_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/pixel_steps.h"
#include "larq_engine/kernels/cuda/sum_program.h"

namespace larq_engine::cuda {

template <class Values>
LE_DEVICE void ClampAll(const SumProgram::Range& range, const Values& values) {
  if (!range.clamps) return;
  values.ForEach([&](float& y, int64_t) { y = Clamp(y, range.min, range.max); });
}

// `residual`: what Values::Load brought of program.residual, if that is there. It is loaded by the
// caller, before anything is computed or stored that a compiler could not move it across.
template <class Values, class Tensor>
LE_DEVICE void RunSum(const SumProgram& program, const Values& values, const Tensor& residual) {
  ClampAll(program.activation, values);
  if (program.product.values != nullptr) {
    values.WithChannels(program.product.values, [](float& y, float other) { y = y * other; });
    ClampAll(program.product.range, values);
  }
  if (program.sum.values != nullptr) {
    values.WithChannels(program.sum.values, [](float& y, float other) { y = y + other; });
    ClampAll(program.sum.range, values);
  }
  if (program.sum_out != nullptr) values.Store(program.sum_out);
  if (program.residual.values != nullptr) {
    values.With(residual, [](float& y, float other) { y = y + other; });
    ClampAll(program.residual.range, values);
  }
  if (program.out != nullptr) values.Store(program.out);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_SUM_STEPS_H_
