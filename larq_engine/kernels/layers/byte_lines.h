// Lines of the image as bytes, with their padding: each pixel is expanded once, and the product
// reads the taps of all output pixels in place. (If taps are gathered, a pixel is expanded once for
// each tap that it is.)
//
// Output pixels are counted along padded lines. A window that reaches from the end of one line to
// the start of the next reads only padding there. So pixels of several lines are one product, whose
// rows start one pixel apart. The rows between two lines, a filter's width less one, are computed
// for nothing.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_BYTE_LINES_H_
#define LARQ_ENGINE_KERNELS_LAYERS_BYTE_LINES_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {

class ByteLines {
 public:
  using Position = OutputGrid::Position;

  // The lines that one worker holds now; none at the start of each Run.
  struct Scratch {
    uint8_t* bytes;
    int64_t image;
    int64_t first;  // first and last are numbers of padded lines
    int64_t last;
  };

  // Tells whether the layer's pixels can be read from lines: they must fill whole words and steps
  // of the row, all taps of a filter's line must be contiguous, and neighbouring output pixels must
  // be one pixel apart in the image.
  static bool Serve(const Bconv2dSpec& spec, const ByteRow& row);

  ByteLines(const Bconv2dSpec& spec, const ByteRow& row);

  // Returns false if lines of this image would take too much memory or leave too many rows between
  // them. In that case no other function may be called.
  bool Resize(const OutputGrid& grid);
  Scratch TakeScratch(ScratchParts& parts) const;

  // Returns how many pixels a tile may have so that their rows are never more than the product's,
  // wherever the tile starts.
  int64_t tile_pixels() const { return tile_pixels_; }

  // Returns how many rows `pixels` output pixels of one image take.
  size_t Rows(const OutputGrid& grid, const Position& start, size_t pixels) const;

  // Sets the left side of a product whose first row is the pixel at `start`.
  void Find(const OutputGrid& grid, const uint32_t* input, const Position& start, size_t pixels,
            Scratch& scratch, ByteArgs& args) const;

  // Moves the rows of acc that belong to the `pixels` pixels from `start` on together, over the
  // rows between lines.
  void LeaveOutRowsBetween(const OutputGrid& grid, const Position& start, size_t pixels,
                           size_t channels, int32_t* acc) const;

 private:
  void Expand(const OutputGrid& grid, const uint32_t* input, int64_t image, int64_t line,
              uint8_t* to) const;

  Bconv2dSpec spec_;
  ByteRow row_;
  uint8_t padding_;
  size_t pixel_bytes_;
  int64_t between_;  // rows between two lines
  int64_t tile_pixels_;
  int64_t window_lines_ = 0;  // image lines that one output line reads
  int64_t lines_ = 0;         // lines that are held
  size_t line_bytes_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_BYTE_LINES_H_
