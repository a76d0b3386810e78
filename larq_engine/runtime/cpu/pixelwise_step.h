// A step that makes each pixel of the output of the same pixel of its inputs.
#ifndef LARQ_ENGINE_RUNTIME_CPU_PIXELWISE_STEP_H_
#define LARQ_ENGINE_RUNTIME_CPU_PIXELWISE_STEP_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {

class PixelwiseStep : public Step {
 public:
  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    channels_ = static_cast<size_t>(Channels(output.dims));
    pixels_ = CountPixels(output.dims);
  }
  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }

 protected:
  size_t channels() const { return channels_; }
  static size_t Pixels(const StepRange& range) {
    return static_cast<size_t>(range.last_pixel - range.first_pixel);
  }
  size_t Values(const StepRange& range) const { return Pixels(range) * channels_; }

 private:
  size_t channels_ = 0;
  int64_t pixels_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_PIXELWISE_STEP_H_
