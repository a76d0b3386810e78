#include "larq_engine/kernels/layers/byte_lines.h"

#include <algorithm>
#include <cstring>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Bytes of expanded lines that are held even if a tile needs fewer: an eighth of L2 on a Xeon with
// AMX.
constexpr size_t kHeldBytes = 256 * 1024;

// The most bytes of lines that a worker may hold; more would no longer be in its caches.
constexpr size_t kMostBytes = 1024 * 1024;

// A tile must have this many rows for each row that may be computed for nothing: layers of 7x7 lose
// more by such rows than by gathering their taps.
constexpr int64_t kRowsForOneInVain = 8;

// Returns the most line ends that `pixels` output pixels can have among them.
int64_t MostLineEnds(int64_t pixels, int64_t width) { return (pixels - 1 + width - 1) / width; }

}  // namespace

bool ByteLines::Serve(const Bconv2dSpec& spec, const ByteRow& row) {
  const auto& [height, width] = spec.window;
  return spec.groups == 1 && spec.in_channels % static_cast<int64_t>(kWordBits) == 0 &&
         width.taps * spec.in_channels % row.kr == 0 && width.dilation == 1 && height.stride == 1 &&
         width.stride == 1 && spec.bits_in <= row.in_planes && width.taps <= row.mr / 2;
}

ByteLines::ByteLines(const Bconv2dSpec& spec, const ByteRow& row)
    : spec_(spec),
      row_(row),
      padding_(spec.pad_value == PadValue::kMinusOne ? static_cast<uint8_t>(LargestOf(spec.bits_in))
                                                     : uint8_t{0}),
      pixel_bytes_(static_cast<size_t>(spec.in_channels)),
      between_(spec.window.width.taps - 1),
      tile_pixels_(row.mr) {}

bool ByteLines::Resize(const OutputGrid& grid) {
  const int64_t width = grid.width().out;
  const auto most_columns = static_cast<int64_t>(kMostBytes / pixel_bytes_);
  if (width == 0 || width > most_columns - between_) return false;
  const auto rows = [&](int64_t pixels) { return pixels + MostLineEnds(pixels, width) * between_; };
  tile_pixels_ = row_.mr;
  while (tile_pixels_ > 1 && rows(tile_pixels_) > row_.mr) --tile_pixels_;
  const WindowAxis& height = grid.height();
  window_lines_ = height.extent();
  line_bytes_ = static_cast<size_t>(width + between_) * pixel_bytes_;
  const int64_t needed = window_lines_ + MostLineEnds(tile_pixels_, width);
  const auto held = static_cast<int64_t>(kHeldBytes / line_bytes_);
  lines_ = std::min(std::max(needed, held), height.out - 1 + window_lines_);
  return (row_.mr - tile_pixels_) * kRowsForOneInVain <= row_.mr &&
         lines_ <= static_cast<int64_t>(kMostBytes / line_bytes_);
}

ByteLines::Scratch ByteLines::TakeScratch(ScratchParts& parts) const {
  return {.bytes = parts.Take<uint8_t>(static_cast<size_t>(lines_), line_bytes_),
          .image = -1,
          .first = 0,
          .last = 0};
}

size_t ByteLines::Rows(const OutputGrid& grid, const Position& start, size_t pixels) const {
  const int64_t ends = (start.x + static_cast<int64_t>(pixels) - 1) / grid.width().out;
  return pixels + static_cast<size_t>(ends * between_);
}

// Lines are expanded when they are first needed. When there is no more room, those that are needed
// again move to the front.
void ByteLines::Find(const OutputGrid& grid, const uint32_t* input, const Position& start,
                     size_t pixels, Scratch& scratch, ByteArgs& args) const {
  if (scratch.image != start.image) {
    scratch.image = start.image;
    scratch.first = scratch.last = start.y;
  }
  const int64_t last_line =
      start.y + (start.x + static_cast<int64_t>(pixels) - 1) / grid.width().out + window_lines_;
  const auto line = [&](int64_t number) {
    return scratch.bytes + static_cast<size_t>(number - scratch.first) * line_bytes_;
  };
  if (last_line - scratch.first > lines_) {
    if (scratch.last > start.y) {
      std::memmove(scratch.bytes, line(start.y),
                   static_cast<size_t>(scratch.last - start.y) * line_bytes_);
    }
    scratch.first = start.y;
    scratch.last = std::max(scratch.last, start.y);
  }
  for (; scratch.last < last_line; ++scratch.last) {
    Expand(grid, input, start.image, scratch.last, line(scratch.last));
  }
  args.segments = static_cast<size_t>(spec_.window.height.taps);
  args.segment_bytes = static_cast<size_t>(spec_.window.width.taps) * pixel_bytes_;
  args.segment_stride = static_cast<size_t>(spec_.window.height.dilation) * line_bytes_;
  args.lhs = line(start.y) + static_cast<size_t>(start.x) * pixel_bytes_;
  args.lhs_stride = pixel_bytes_;
}

void ByteLines::Expand(const OutputGrid& grid, const uint32_t* input, int64_t image, int64_t line,
                       uint8_t* to) const {
  const WindowAxis& height = grid.height();
  const WindowAxis& width = grid.width();
  const int64_t y = line - height.pad_before;
  if (y < 0 || y >= height.in) {
    std::memset(to, padding_, line_bytes_);
    return;
  }
  // The windows may not reach the image's last columns. Only the padding that the last pixel reads
  // is written.
  const int64_t columns = width.out + between_;
  const auto before = static_cast<size_t>(std::min(width.pad_before, columns));
  const auto pixels =
      static_cast<size_t>(std::clamp<int64_t>(columns - width.pad_before, 0, width.in));
  std::memset(to, padding_, before * pixel_bytes_);
  to += before * pixel_bytes_;
  const uint32_t* run =
      input + static_cast<size_t>((image * height.in + y) * width.in) * spec_.pixel_words();
  ExpandArgs args{.run = run,
                  .words = spec_.tap_words(),
                  .planes = static_cast<size_t>(spec_.bits_in),
                  .plane_words = spec_.plane_words(),
                  .bytes = to};
  if (spec_.bits_in == 1) {
    args.words *= pixels;
    if (pixels > 0) row_.expand(args);
  } else {
    for (size_t i = 0; i < pixels; ++i) {
      row_.expand(args);
      args.run += spec_.pixel_words();
      args.bytes += pixel_bytes_;
    }
  }
  to += pixels * pixel_bytes_;
  std::memset(to, padding_, line_bytes_ - (before + pixels) * pixel_bytes_);
}

void ByteLines::LeaveOutRowsBetween(const OutputGrid& grid, const Position& start, size_t pixels,
                                    size_t channels, int32_t* acc) const {
  auto in_line = std::min(pixels, static_cast<size_t>(grid.width().out - start.x));
  const int32_t* from = acc;
  for (;;) {
    from += (in_line + static_cast<size_t>(between_)) * channels;
    acc += in_line * channels;
    pixels -= in_line;
    if (pixels == 0) return;
    in_line = std::min(pixels, static_cast<size_t>(grid.width().out));
    std::memmove(acc, from, in_line * channels * sizeof(int32_t));
  }
}

}  // namespace larq_engine
