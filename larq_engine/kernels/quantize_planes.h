// LceQuantize to more than one bit: floats or bytes to planes of +-1 values.
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
  // limits is [2^bits - 1][channels], or [2^bits - 1] where all channels have the same, of each
  // channel in rising order; bits are 2 to 8.
  PlaneQuantizer(size_t bits, size_t channels, const std::vector<float>& limits,
                 const PixelOps& ops);

  size_t scratch_bytes() const;  // for each concurrent Run, kBufferAlignment aligned

  // out is [pixels][bits][words of the channels].
  void Run(const float* in, size_t pixels, std::byte* scratch, uint32_t* out) const;

 private:
  struct Scratch {
    uint32_t* words;   // of a plane of a part
    int32_t* guesses;  // of a pixel
    uint8_t* missing;  // how many limits each value of a part is smaller than
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
  size_t part_pixels_;           // whose values stay in L1 from one limit to the next
  std::vector<float> limits_;    // to compare: [limits][channels]; to guess: [channels][limits]
  std::vector<uint32_t> signs_;  // to compare: of no channel turned
  std::vector<float> factors_;   // to guess: one a channel
  std::vector<float> offsets_;   // to guess: one a channel
  std::vector<float> lowest_;    // to guess: one a channel, the lowest guess
  size_t channel_limits_ = 0;    // to guess: from a channel's limits to the next's, 0 for the same
  const PixelOps& ops_;
};

// Likewise of bytes, each of which is its own number q, of 8 bits.
class ByteQuantizer {
 public:
  ByteQuantizer(size_t channels, const PixelOps& ops);

  size_t scratch_bytes() const;  // for each concurrent Run, kBufferAlignment aligned

  // out is [pixels][8][words of the channels].
  void Run(const uint8_t* in, size_t pixels, std::byte* scratch, uint32_t* out) const;

 private:
  struct Scratch {
    uint32_t* words;   // of a plane of a part
    uint8_t* missing;  // from each byte of a part to 255
  };
  Scratch TakeScratch(ScratchParts& parts) const;

  size_t channels_;
  size_t part_pixels_;
  const PixelOps& ops_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_QUANTIZE_PLANES_H_
