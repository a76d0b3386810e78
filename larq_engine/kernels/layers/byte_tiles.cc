#include "larq_engine/kernels/layers/byte_tiles.h"

#include <algorithm>
#include <cassert>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {
namespace {

// Calls the micro-kernel. No other function does, so its assertions are the caller's half of the
// contract.
void RunProduct(const ByteRow& row, const ByteArgs& args) {
  assert(args.m >= 1 && args.m <= static_cast<size_t>(row.mr) && args.n >= 1);
  assert(args.segment_bytes % static_cast<size_t>(row.kr) == 0);
  assert(reinterpret_cast<uintptr_t>(args.rhs) % kBufferAlignment == 0);
  assert(reinterpret_cast<uintptr_t>(args.start) % kBufferAlignment == 0);
  row.fn(args);
}

}  // namespace

// Taps are expanded in whole words, and each tap overwrites the excess bytes of the tap before it.
// So there must be room for a word's excess after the last tap.
ByteTiles::ByteTiles(const Bconv2dSpec& spec, const uint32_t* filter, const ByteRow& row,
                     const PixelOps& ops)
    : spec_(spec),
      row_(row),
      ops_(ops),
      runs_(spec, static_cast<size_t>(row.mr)),
      filters_(spec, row, filter),
      in_parts_(PlaneParts(spec.bits_in, row.in_planes)),
      row_bytes_(RoundUp(MemorySum(filters_.depth(), kWordBits), kBufferAlignment)),
      zeros_(RoundUp(static_cast<size_t>(spec.group_out_channels()), kRhsPartColumns)) {
  std::fill_n(zeros_.data(), zeros_.size(), 0);
  if (ByteLines::Serve(spec, row)) lines_.emplace(spec, row);
}

void ByteTiles::Resize(const OutputGrid& grid) {
  in_lines_ = lines_ && lines_->Resize(grid);
  if (!in_lines_) runs_.Resize(grid);
}

ByteTiles::Scratch ByteTiles::TakeScratch(ScratchParts& parts) const {
  const auto pixels = static_cast<size_t>(row_.mr);
  const bool has_parts = in_parts_.size() * filters_.parts().size() > 1;
  Scratch scratch{};
  if (in_lines_) {
    scratch.lines = lines_->TakeScratch(parts);
  } else {
    scratch.taps = runs_.TakeScratch(parts);
    scratch.bytes = parts.Take<uint8_t>(pixels, row_bytes_);
  }
  scratch.part =
      parts.Take<int32_t>(has_parts ? pixels : 0, static_cast<size_t>(spec_.out_channels));
  return scratch;
}

// Makes the bytes of a tile's taps, for a part of the planes.
void ByteTiles::Gather(const BgemmArgs& taps, const PlanePart& part, uint8_t* bytes) const {
  const auto channels = static_cast<size_t>(spec_.group_in_channels());
  const auto depth = static_cast<size_t>(spec_.depth());
  // Taps of whole words are expanded together if they are contiguous.
  const size_t words = channels % kWordBits == 0 ? taps.segment_words : spec_.tap_words();
  const size_t words_bytes = channels % kWordBits == 0 ? words * kWordBits : channels;
  for (size_t i = 0; i < taps.m; ++i, bytes += row_bytes_) {
    ExpandArgs args{.run = nullptr,
                    .words = words,
                    .planes = static_cast<size_t>(part.count),
                    .plane_words = spec_.plane_words(),
                    .bytes = bytes};
    for (size_t segment = 0; segment < taps.segments; ++segment) {
      const uint32_t* run = LhsRun(taps.lhs_base, taps.lhs[segment * runs_.mr() + i]) +
                            static_cast<size_t>(part.first) * spec_.plane_words();
      for (size_t w = 0; w < taps.segment_words; w += words) {
        args.run = run + w;
        row_.expand(args);
        args.bytes += words_bytes;
      }
    }
    std::fill(bytes + depth, bytes + filters_.depth(), uint8_t{0});
  }
}

void ByteTiles::Run(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const {
  if (in_lines_) {
    RunLines(grid, tile, scratch);
  } else {
    RunTaps(grid, tile, scratch);
  }
}

// Lines belong to one image, so a tile that spans several images is computed image by image.
void ByteTiles::RunLines(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const {
  OutputGrid::Position start = tile.start;
  int32_t* acc = tile.acc;
  for (size_t left = tile.pixels; left > 0;) {
    const size_t pixels = std::min(left, grid.PixelsToEndOfImage(start));
    ByteArgs args{};
    args.m = lines_->Rows(grid, start, pixels);
    lines_->Find(grid, tile.input, start, pixels, scratch.lines, args);
    Multiply({.first = 0, .count = spec_.bits_in}, 0, tile, acc, scratch, args);
    lines_->LeaveOutRowsBetween(grid, start, pixels, tile.channels, acc);
    acc += pixels * tile.channels;
    left -= pixels;
    grid.Advance(start, static_cast<int64_t>(pixels));
  }
}

void ByteTiles::RunTaps(const OutputGrid& grid, const ProductTile& tile,
                        const Scratch& scratch) const {
  BgemmArgs taps{};
  taps.m = tile.pixels;
  ByteArgs args{};
  args.m = tile.pixels;
  args.segments = 1;
  args.segment_bytes = filters_.depth();
  args.lhs = scratch.bytes;
  args.lhs_stride = row_bytes_;
  for (size_t group = 0; group < static_cast<size_t>(spec_.groups); ++group) {
    runs_.Find(grid, tile.input + group * spec_.tap_words(), tile.start, scratch.taps, taps);
    for (const PlanePart& in_part : in_parts_) {
      Gather(taps, in_part, scratch.bytes);
      Multiply(in_part, group, tile, tile.acc, scratch, args);
    }
  }
}

// Adds the products of a part of the image's planes with each part of the group's filters.
void ByteTiles::Multiply(const PlanePart& in_part, size_t group, const ProductTile& tile,
                         int32_t* acc, const Scratch& scratch, ByteArgs& args) const {
  args.n = tile.channels / static_cast<size_t>(spec_.groups);
  args.acc_stride = tile.channels;
  int32_t* group_acc = acc + group * args.n;
  for (size_t part = 0; part < filters_.parts().size(); ++part) {
    const auto shift = static_cast<int>(in_part.first + filters_.parts()[part].first);
    args.rhs = filters_.Columns(part, group, tile.first_channel);
    args.start = shift == 0 ? filters_.Start(group, tile.first_channel) : zeros_.data();
    args.acc = shift == 0 ? group_acc : scratch.part;
    RunProduct(row_, args);
    if (shift > 0) AddProduct(ops_, args, shift, group_acc);
  }
}

}  // namespace larq_engine
