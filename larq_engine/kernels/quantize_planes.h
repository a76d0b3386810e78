// LceQuantize to more than one bit: floats to planes of +-1 values.
#ifndef LARQ_ENGINE_KERNELS_QUANTIZE_PLANES_H_
#define LARQ_ENGINE_KERNELS_QUANTIZE_PLANES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/pixel_ops.h"
#include "larq_engine/kernels/scratch_parts.h"

namespace larq_engine {

// A value becomes the number q of limits that it is not smaller than, 0 to 2^bits - 1. Where bit j
// of q is 1, plane j is +1, else it is -1: so planes times 2^j add up to 2 q - (2^bits - 1). NaN is
// smaller than no limit.
class PlaneQuantizer {
 public:
  // limits is [2^bits - 1][channels], of each channel in rising order.
  PlaneQuantizer(size_t bits, size_t channels, std::vector<float> limits, const PixelOps& ops);

  size_t scratch_bytes() const;  // for each concurrent Run, kBufferAlignment aligned

  // out is [pixels][bits][words of the channels].
  void Run(const float* in, size_t pixels, std::byte* scratch, uint32_t* out) const;

 private:
  void RunPart(const float* in, size_t pixels, uint32_t* below, uint32_t* out) const;
  uint32_t* TakeScratch(ScratchParts& parts) const;

  size_t bits_;
  size_t channels_;
  size_t words_;
  size_t part_pixels_;  // whose values stay in L1 from one limit to the next
  std::vector<float> limits_;
  std::vector<uint32_t> signs_;  // of no channel turned
  const PixelOps& ops_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_QUANTIZE_PLANES_H_
