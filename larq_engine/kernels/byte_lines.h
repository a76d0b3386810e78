// Lines of the image as bytes, with their padding: each pixel is expanded once, and the taps of all
// output pixels are where they lie. (Gathered, each pixel is expanded for each tap that it is.)
//
// Output pixels are counted along padded lines: what a window reads from the end of one line to the
// start of the next is padding, so pixels of several lines are one product whose rows are a pixel
// apart. The rows between two lines, a filter's width less one, are computed for nothing.
#ifndef LARQ_ENGINE_KERNELS_BYTE_LINES_H_
#define LARQ_ENGINE_KERNELS_BYTE_LINES_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/byte_table.h"
#include "larq_engine/kernels/output_grid.h"
#include "larq_engine/kernels/scratch_parts.h"

namespace larq_engine {

class ByteLines {
 public:
  using Position = OutputGrid::Position;

  // Which lines one worker has now. None at the start of each Run.
  struct Scratch {
    uint8_t* bytes;
    int64_t image;
    int64_t first;  // padded lines
    int64_t last;
  };

  // Whether pixels lie so that lines serve: of whole words and steps of the row, with all taps of a
  // filter's line together, and as far apart as output pixels are.
  static bool Serve(const Bconv2dSpec& spec, const ByteRow& row);

  ByteLines(const Bconv2dSpec& spec, const ByteRow& row);

  // False where lines of this image would take too much memory or leave too many rows between them:
  // then nothing else may be asked.
  bool Resize(const OutputGrid& grid);
  Scratch TakeScratch(ScratchParts& parts) const;

  // Pixels of which the rows are never more than the product's, wherever they start.
  int64_t tile_pixels() const { return tile_pixels_; }

  // The rows of `pixels` output pixels of one image.
  size_t Rows(const OutputGrid& grid, const Position& start, size_t pixels) const;

  // Sets the left side of a product whose first row is the pixel at `start`.
  void Find(const OutputGrid& grid, const uint32_t* input, const Position& start, size_t pixels,
            Scratch& scratch, ByteArgs& args) const;

  // Moves those rows of acc that are pixels together, of `pixels` from `start` on.
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
  int64_t window_lines_ = 0;  // that one output line reads
  int64_t lines_ = 0;         // that are held
  size_t line_bytes_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTE_LINES_H_
