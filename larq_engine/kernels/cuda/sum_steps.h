// Runs the steps of a SumProgram on the device, without a loop: what kernels of binary convolutions
// compute most often stays short code. The arithmetic is that of pixel_steps.h.
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

// Runs the steps of `program`. `residual` is what Values::Load returned for program.residual, if
// the program has one. The caller loads it before anything is computed or stored that a compiler
// could not move the load across.
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
