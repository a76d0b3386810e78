// LceQuantize to more than one bit: turns floats or bytes into planes of +-1 values.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_QUANTIZE_PLANES_H_
#define LARQ_ENGINE_KERNELS_PIXELS_QUANTIZE_PLANES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

// A value becomes q, the number of limits that it is not smaller than, 0 to 2^bits - 1. Plane j is
// +1 if bit j of q is 1, else -1. So the sum of the planes times 2^j is 2 q - (2^bits - 1). NaN is
// smaller than no limit.
class PlaneQuantizer {
 public:
  // limits is [2^bits - 1][channels], or [2^bits - 1] if all channels have the same limits. Each
  // channel's limits are in rising order; bits are 2 to 8.
  PlaneQuantizer(size_t bits, size_t channels, const std::vector<float>& limits,
                 const PixelOps& ops);

  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // out is [pixels][bits][words of the channels].
  void Run(const float* in, size_t pixels, std::byte* scratch, uint32_t* out) const;

 private:
  struct Scratch {
    uint32_t* words;   // the words of one plane of a part
    int32_t* guesses;  // the guesses of one pixel
    uint8_t* missing;  // the number of limits that each value of a part is smaller than
  };

  size_t count() const { return (size_t{1} << bits_) - 1; }
  bool guesses() const { return !factors_.empty(); }
  void FindGuesses(const std::vector<float>& limits, size_t limit_channels);
  Scratch TakeScratch(ScratchParts& parts) const;
  void CompareAll(const float* in, size_t pixels, uint32_t* below, uint32_t* out) const;
  void Guess(const float* in, size_t pixels, const Scratch& scratch) const;

  size_t bits_;
  size_t channels_;
  size_t words_;
  size_t part_pixels_;           // pixels whose values stay in L1 from one limit to the next
  std::vector<float> limits_;    // [limits][channels]; for guessing: [channels][limits]
  std::vector<uint32_t> signs_;  // for comparing: turns no channel's sign
  std::vector<float> factors_;   // for guessing: one a channel
  std::vector<float> offsets_;   // for guessing: one a channel
  std::vector<float> lowest_;    // for guessing: the lowest guess of each channel
  size_t channel_limits_ = 0;    // for guessing: limits of each channel; 0 if all share them
  const PixelOps& ops_;
};

// The same for bytes, each of which is its own number q of 8 bits.
class ByteQuantizer {
 public:
  ByteQuantizer(size_t channels, const PixelOps& ops);

  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // out is [pixels][8][words of the channels].
  void Run(const uint8_t* in, size_t pixels, std::byte* scratch, uint32_t* out) const;

 private:
  struct Scratch {
    uint32_t* words;   // the words of one plane of a part
    uint8_t* missing;  // 255 minus each byte of a part
  };
  Scratch TakeScratch(ScratchParts& parts) const;

  size_t channels_;
  size_t part_pixels_;
  const PixelOps& ops_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_QUANTIZE_PLANES_H_
