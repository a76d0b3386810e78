#include "larq_engine/kernels/bconv2d.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "larq_engine/kernels/transform_tile.h"

namespace larq_engine {
namespace {

// The only caller of a micro-kernel; its assertions are the caller's half of
// the contract.
void RunBgemm(const BgemmRow &row, const BgemmArgs &args) {
  assert(args.m >= 1 && args.m <= static_cast<size_t>(row.mr) && args.n >= 1);
  assert(args.segment_words % row.kr_words() == 0);
  assert(reinterpret_cast<uintptr_t>(args.rhs) % kBufferAlignment == 0);
  row.fn(args);
}

// Channels that are computed together where pixels are too few for all threads:
// parts of the right side, and whole words of packed outputs.
constexpr size_t kBlockChannels = kRhsPartColumns;
static_assert(kBlockChannels % kWordBits == 0);

// Accumulators that wait for the output transform: half of the smallest L1 (a
// quarter costs layers of 64 and 128 channels 3 %), or one tile if that is
// more.
constexpr size_t kStripBytes = 16 * 1024;

size_t StripTiles(const Bconv2dSpec &spec, const BgemmRow &row) {
  const size_t pixel_bytes = static_cast<size_t>(spec.out_channels) * sizeof(int32_t);
  return std::max<size_t>(1, kStripBytes / pixel_bytes / static_cast<size_t>(row.mr));
}

// [planes][taps of all filters][words of a tap], of filters with planes in each
// tap.
std::vector<uint32_t> SplitPlanes(const Bconv2dSpec &spec, const uint32_t *filter) {
  const size_t planes = static_cast<size_t>(spec.bits_weights);
  const size_t taps = static_cast<size_t>(spec.out_channels * spec.taps());
  const size_t words = spec.tap_words();
  std::vector<uint32_t> split(planes * taps * words);
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t plane = 0; plane < planes; ++plane, filter += words) {
      std::copy_n(filter, words, split.data() + (plane * taps + tap) * words);
    }
  }
  return split;
}

// One group after the other, for each plane.
PackedFilters PackFilters(const Bconv2dSpec &spec, const BgemmRow &row, const TapGatherer &gatherer,
                          const uint32_t *filter) {
  std::vector<uint32_t> split;
  if (spec.bits_weights > 1) {
    split = SplitPlanes(spec, filter);
    filter = split.data();
  }
  std::vector<uint32_t> packed_bits;
  if (gatherer.packs_bits()) {
    packed_bits =
        gatherer.PackFilters(filter, static_cast<size_t>(spec.bits_weights * spec.out_channels));
    filter = packed_bits.data();
  }
  return PackedFilters(row, filter, static_cast<size_t>(spec.bits_weights * spec.groups),
                       static_cast<size_t>(spec.group_out_channels()), gatherer.filter_words());
}

// Pixels in tiles of about the same size: 49 pixels are 7 of 7, not 6 of 8 and
// one of 1.
class Tiles {
 public:
  Tiles(int64_t pixels, int64_t mr)
      : count_((pixels + mr - 1) / mr), size_(pixels / count_), larger_(pixels % count_) {}
  int64_t count() const { return count_; }
  int64_t Pixels(int64_t tile) const { return size_ + (tile < larger_ ? 1 : 0); }

 private:
  int64_t count_;
  int64_t size_;
  int64_t larger_;  // the first ones, by a pixel
};

}  // namespace

// One worker's memory.
struct Bconv2d::Scratch {
  ptrdiff_t *taps;
  TapGatherer::Scratch gather;
  int32_t *acc;    // [pixels of a strip][channels computed]
  int32_t *plane;  // [pixels of a tile][channels computed]: of planes after the first
  int32_t *depth;  // [pixels of a strip]
};

Bconv2d::Bconv2d(const Bconv2dSpec &spec, const uint32_t *filter, OutputTransform transform,
                 const BgemmRow &row, const PixelOps &ops)
    : spec_(spec),
      transform_(std::move(transform)),
      row_(row),
      ops_(ops),
      strip_tiles_(StripTiles(spec, row)),
      runs_(spec, static_cast<size_t>(row.mr)),
      gatherer_(spec, row),
      filters_(PackFilters(spec, row, gatherer_, filter)) {
  if (spec.IsPaddedWith(PadValue::kZero)) zero_padding_.emplace(spec, filter);
}

void Bconv2d::Resize(int64_t in_height, int64_t in_width) {
  grid_ = OutputGrid(spec_.Height(in_height), spec_.Width(in_width));
  runs_.Resize(grid_);
}

int64_t Bconv2d::channel_blocks() const {
  if (spec_.groups > 1) return 1;
  return (spec_.out_channels + static_cast<int64_t>(kBlockChannels) - 1) /
         static_cast<int64_t>(kBlockChannels);
}

Bconv2d::Channels Bconv2d::ChannelsOf(int64_t first_block, int64_t last_block) const {
  const size_t first = static_cast<size_t>(first_block) * kBlockChannels;
  const size_t last = last_block == channel_blocks()
                          ? static_cast<size_t>(spec_.out_channels)
                          : static_cast<size_t>(last_block) * kBlockChannels;
  return {.first = first, .count = last - first};
}

Bconv2d::Scratch Bconv2d::TakeScratch(ScratchParts &parts) const {
  const size_t strip = strip_tiles_ * static_cast<size_t>(row_.mr);
  Scratch scratch;
  scratch.taps = runs_.TakeScratch(parts);
  scratch.gather = gatherer_.TakeScratch(parts);
  scratch.acc = parts.Take<int32_t>(strip, static_cast<size_t>(spec_.out_channels));
  scratch.plane = parts.Take<int32_t>(spec_.has_planes() ? static_cast<size_t>(row_.mr) : 0,
                                      static_cast<size_t>(spec_.out_channels));
  scratch.depth = parts.Take<int32_t>(strip, 1);
  return scratch;
}

size_t Bconv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

// Adds the products of a group and plane of the image, which `tile` has on its
// left side, with each plane of the group's filters.
void Bconv2d::RunProducts(size_t group, int64_t plane, const Channels &channels,
                          const Scratch &scratch, int32_t *acc, BgemmArgs &tile) const {
  int32_t *group_acc = acc + group * tile.n;
  for (int64_t filter_plane = 0; filter_plane < spec_.bits_weights; ++filter_plane) {
    const int shift = static_cast<int>(plane + filter_plane);
    const size_t part = static_cast<size_t>(filter_plane * spec_.groups) + group;
    tile.rhs = filters_.Columns(part, channels.first);
    tile.acc = shift == 0 ? group_acc : scratch.plane;
    RunBgemm(row_, tile);
    if (shift == 0) continue;
    for (size_t i = 0; i < tile.m; ++i) {
      const size_t at = i * tile.acc_stride;
      ops_.add_shifted(scratch.plane + at, tile.n, shift, group_acc + at);
    }
  }
}

// The accumulators of tile.m pixels. Of `tile`, what is the same for all tiles
// is set.
void Bconv2d::RunTile(const uint32_t *input, const OutputGrid::Position &start,
                      const Channels &channels, const Scratch &scratch, int32_t *acc,
                      int32_t *depth, BgemmArgs &tile) const {
  for (int64_t plane = 0; plane < spec_.bits_in; ++plane) {
    const uint32_t *group_input = input + static_cast<size_t>(plane) * spec_.plane_words();
    for (size_t group = 0; group < static_cast<size_t>(spec_.groups); ++group) {
      runs_.Find(grid_, group_input, start, scratch.taps, tile);
      if (!gatherer_.in_place()) gatherer_.Gather(scratch.gather, tile);
      RunProducts(group, plane, channels, scratch, acc, tile);
      group_input += spec_.tap_words();
    }
  }
  if (zero_padding_) {
    zero_padding_->Correct(grid_, start, tile.m, channels.first, channels.count, acc, depth);
  }
}

void Bconv2d::Run(const uint32_t *input, int64_t first, int64_t last, int64_t first_block,
                  int64_t last_block, std::byte *scratch_memory, std::byte *output) const {
  if (first == last) return;
  ScratchParts parts(scratch_memory);
  const Scratch scratch = TakeScratch(parts);
  const Channels channels = ChannelsOf(first_block, last_block);
  const size_t pixel_bytes = transform_.PixelBytes(static_cast<size_t>(spec_.out_channels));
  std::byte *out = output + transform_.PixelBytes(channels.first);
  std::fill_n(scratch.depth, strip_tiles_ * static_cast<size_t>(row_.mr),
              static_cast<int32_t>(spec_.max_dot()));
  // A part of the channels is only ever asked for where there is one group.
  BgemmArgs tile{.m = 0,
                 .n = channels.count / static_cast<size_t>(spec_.groups),
                 .segments = 0,
                 .segment_words = 0,
                 .lhs_base = nullptr,
                 .lhs = nullptr,
                 .rhs = nullptr,
                 .acc = nullptr,
                 .acc_stride = channels.count};
  const Tiles tiles(last - first, row_.mr);
  OutputGrid::Position position = grid_.Locate(first);
  for (int64_t next = 0; next < tiles.count();) {
    const int64_t strip_end = std::min(next + static_cast<int64_t>(strip_tiles_), tiles.count());
    size_t pixels = 0;
    for (; next < strip_end; ++next) {
      const int64_t m = tiles.Pixels(next);
      tile.m = static_cast<size_t>(m);
      RunTile(input, position, channels, scratch, scratch.acc + pixels * channels.count,
              scratch.depth + pixels, tile);
      pixels += tile.m;
      grid_.Advance(position, m);
    }
    Transform(ops_, transform_,
              {.rows = pixels,
               .first_channel = channels.first,
               .channels = channels.count,
               .acc = scratch.acc,
               .acc_stride = channels.count,
               .depth = scratch.depth,
               .out = out,
               .out_stride = pixel_bytes});
    out += pixels * pixel_bytes;
  }
}

}  // namespace larq_engine
