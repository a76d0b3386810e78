// A convolution of int8 values, computed as products of bytes. It is made for images of few
// channels, in which a filter's line of taps is a short run of bytes.
//
// The lines that a stretch of output pixels reads are copied out of the image, together with the
// padding around it, as bytes that the row reads (FlipOfInt8). The taps of each pixel are then runs
// of these bytes, wherever the pixel lies.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_INT8_CONV2D_H_
#define LARQ_ENGINE_KERNELS_LAYERS_INT8_CONV2D_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/int8_conv2d_spec.h"
#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/kernels/common/shared_buffer.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

class Int8Conv2d {
 public:
  // filter is [out_channels][filter_height][filter_width][in_channels], without -128. The object
  // keeps no pointer to it. The row must take seven planes of weights.
  Int8Conv2d(const Int8Conv2dSpec& spec, const int8_t* filter, const Int8Output& output,
             const ByteRow& row, const PixelOps& ops);

  // Sets the size of the input image; must be called before the first Run.
  void Resize(int64_t in_height, int64_t in_width);

  const char* kernel() const { return row_.name; }
  int64_t tile_pixels() const { return row_.mr; }
  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes output pixels [first, last). `input` is the image, `output` starts at pixel `first`.
  void Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch,
           int8_t* output) const;

 private:
  struct Scratch;
  Scratch TakeScratch(ScratchParts& parts) const;
  void CopyLines(const int8_t* input, const OutputGrid::Position& start, int64_t pixels,
                 uint8_t* lines) const;
  void GatherTaps(const uint8_t* window, uint8_t* taps) const;
  void Multiply(size_t pixels, const Scratch& scratch, int8_t* output) const;

  Int8Conv2dSpec spec_;
  ByteRow row_;
  const PixelOps& ops_;
  uint8_t flip_;
  size_t depth_;      // depth as the row reads it
  size_t row_bytes_;  // bytes from a pixel's taps to the next pixel's
  SharedBuffer<int8_t> filters_;
  AlignedBuffer<int32_t> start_;     // the start of each filter's sums
  AlignedBuffer<float> multiplier_;  // one for each sum of a tile
  FloatRange range_;
  int32_t zero_point_;
  OutputGrid grid_;
  int64_t stretch_ = 0;    // output pixels whose lines are copied together, at most
  size_t line_bytes_ = 0;  // bytes from a copied line to the next
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_INT8_CONV2D_H_
