#include "larq_engine/kernels/layers/int8_conv2d.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "larq_engine/kernels/bytes/pack_bytes.h"
#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

// Runs are copied in parts of this size, and the last part reaches beyond the run's end. The bytes
// there are overwritten later, or they meet filters that are 0.
constexpr size_t kCopied = 16;

// The most bytes of a copied line; more would push the filters out of the smallest L1.
constexpr int64_t kLineBytes = 512;

void FlipBytes(const int8_t* in, size_t count, uint8_t flip, uint8_t* __restrict out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(in[i]) ^ flip;
}

}  // namespace

// One worker's memory.
struct Int8Conv2d::Scratch {
  uint8_t* lines;  // [filter_height][line_bytes_]
  uint8_t* taps;   // [pixels of a tile][row_bytes_]
  int32_t* sums;   // [pixels of a tile][out_channels]
};

Int8Conv2d::Int8Conv2d(const Int8Conv2dSpec& spec, const int8_t* filter, const Int8Output& output,
                       const ByteRow& row, const PixelOps& ops)
    : spec_(spec),
      row_(row),
      ops_(ops),
      flip_(FlipOfInt8(row)),
      depth_(RoundUp(static_cast<size_t>(spec.depth()), static_cast<size_t>(row.kr))),
      row_bytes_(RoundUp(MemorySum(depth_, kCopied), kBufferAlignment)),
      start_(RoundUp(static_cast<size_t>(spec.out_channels), static_cast<size_t>(row.nr))),
      multiplier_(MemoryProduct(static_cast<size_t>(row.mr), output.multiplier.size())),
      range_(output.range),
      zero_point_(output.zero_point) {
  assert(!spec.window.IsDilated() && spec.groups == 1);
  const auto channels = static_cast<size_t>(spec.out_channels);
  const auto depth = static_cast<size_t>(spec.depth());
  AlignedBuffer<int8_t> packed(PackedBytes(row, channels, depth_));
  PackBytes(row, filter, channels, depth, packed.data());
  filters_ = SharedBuffer(std::move(packed));
  // Sums wrap, as the host's do.
  const uint32_t added = flip_ + static_cast<uint32_t>(spec.zero_point);
  std::fill_n(start_.data(), start_.size(), 0);
  for (size_t c = 0; c < channels; ++c, filter += depth) {
    uint32_t weights = 0;
    for (size_t k = 0; k < depth; ++k) weights += static_cast<uint32_t>(filter[k]);
    start_.data()[c] =
        static_cast<int32_t>(static_cast<uint32_t>(output.bias[c]) - added * weights);
  }
  for (size_t i = 0; i < multiplier_.size(); i += channels) {
    std::copy(output.multiplier.begin(), output.multiplier.end(), multiplier_.data() + i);
  }
}

void Int8Conv2d::Resize(int64_t in_height, int64_t in_width) {
  grid_ = OutputGrid(spec_.window.Over(in_height, in_width));
  const int64_t step = spec_.window.width.stride * spec_.in_channels;
  stretch_ = std::max<int64_t>((kLineBytes - spec_.line_depth()) / step + 1, 1);
  stretch_ = std::min(stretch_, grid_.width().out);
  const auto line = static_cast<size_t>(std::max<int64_t>(stretch_ - 1, 0) * step);
  line_bytes_ =
      RoundUp(MemorySum(line + static_cast<size_t>(spec_.line_depth()), kCopied), kBufferAlignment);
}

Int8Conv2d::Scratch Int8Conv2d::TakeScratch(ScratchParts& parts) const {
  const auto pixels = static_cast<size_t>(row_.mr);
  Scratch scratch;
  scratch.lines = parts.Take<uint8_t>(static_cast<size_t>(spec_.window.height.taps), line_bytes_);
  scratch.taps = parts.Take<uint8_t>(pixels, row_bytes_);
  scratch.sums = parts.Take<int32_t>(pixels, static_cast<size_t>(spec_.out_channels));
  return scratch;
}

size_t Int8Conv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

// Copies the input that pixels [start, start + pixels) of an output line read, one line below the
// other.
void Int8Conv2d::CopyLines(const int8_t* input, const OutputGrid::Position& start, int64_t pixels,
                           uint8_t* lines) const {
  const WindowAxis& height = grid_.height();
  const WindowAxis& width = grid_.width();
  const auto around = static_cast<uint8_t>(spec_.zero_point + flip_);
  const int64_t columns = (pixels - 1) * width.stride + width.taps;
  const int64_t first = start.x * width.stride - width.pad_before;
  // Columns [from, to) are inside the image.
  const int64_t from = std::clamp<int64_t>(-first, 0, columns);
  const int64_t to = std::clamp<int64_t>(width.in - first, from, columns);
  const auto bytes = [&](int64_t count) { return static_cast<size_t>(count * spec_.in_channels); };
  const WindowAxis::Taps inside = height.InsideTaps(start.y);
  int64_t y = start.image * height.in + start.y * height.stride - height.pad_before;
  for (int64_t tap = 0; tap < height.taps; ++tap, ++y, lines += line_bytes_) {
    if (tap < inside.first || tap >= inside.last) {
      std::fill_n(lines, bytes(columns), around);
      continue;
    }
    std::fill_n(lines, bytes(from), around);
    FlipBytes(input + (y * width.in + first + from) * spec_.in_channels, bytes(to - from), flip_,
              lines + bytes(from));
    std::fill_n(lines + bytes(to), bytes(columns - to), around);
  }
}

void Int8Conv2d::GatherTaps(const uint8_t* window, uint8_t* taps) const {
  const auto run = static_cast<size_t>(spec_.line_depth());
  for (int64_t line = 0; line < spec_.window.height.taps; ++line) {
    for (size_t i = 0; i < run; i += kCopied) std::memcpy(taps + i, window + i, kCopied);
    taps += run;
    window += line_bytes_;
  }
}

void Int8Conv2d::Multiply(size_t pixels, const Scratch& scratch, int8_t* output) const {
  const auto channels = static_cast<size_t>(spec_.out_channels);
  row_.fn({.m = pixels,
           .n = channels,
           .segments = 1,
           .segment_bytes = depth_,
           .segment_stride = 0,
           .lhs = scratch.taps,
           .lhs_stride = row_bytes_,
           .rhs = filters_.data(),
           .start = start_.data(),
           .acc = scratch.sums,
           .acc_stride = channels});
  ops_.round_sums(scratch.sums, multiplier_.data(), pixels * channels, range_, zero_point_, output);
}

void Int8Conv2d::Run(const int8_t* input, int64_t first, int64_t last, std::byte* scratch_memory,
                     int8_t* output) const {
  if (first == last) return;
  ScratchParts parts(scratch_memory);
  const Scratch scratch = TakeScratch(parts);
  // The memory is cleared, so that no byte is read that was never written.
  std::memset(scratch.lines, 0, static_cast<size_t>(spec_.window.height.taps) * line_bytes_);
  std::memset(scratch.taps, 0, static_cast<size_t>(row_.mr) * row_bytes_);
  const auto mr = static_cast<size_t>(row_.mr);
  const auto step = static_cast<size_t>(spec_.window.width.stride * spec_.in_channels);
  OutputGrid::Position position = grid_.Locate(first);
  size_t gathered = 0;
  while (first < last) {
    const int64_t pixels = std::min({stretch_, last - first, grid_.width().out - position.x});
    CopyLines(input, position, pixels, scratch.lines);
    for (int64_t i = 0; i < pixels; ++i) {
      GatherTaps(scratch.lines + static_cast<size_t>(i) * step,
                 scratch.taps + gathered * row_bytes_);
      if (++gathered < mr) continue;
      Multiply(mr, scratch, output);
      output += mr * static_cast<size_t>(spec_.out_channels);
      gathered = 0;
    }
    grid_.Advance(position, pixels);
    first += pixels;
  }
  if (gathered > 0) Multiply(gathered, scratch, output);
}

}  // namespace larq_engine
