#include "larq_engine/kernels/layers/bconv2d.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "larq_engine/kernels/common/even_parts.h"
#include "larq_engine/kernels/layers/byte_tiles.h"
#include "larq_engine/kernels/layers/plane_tiles.h"
#include "larq_engine/kernels/layers/transform_tile.h"

namespace larq_engine {
namespace {

// Channels that are computed together if there are too few pixels for all threads: parts of the
// right side, and whole words of packed outputs.
constexpr size_t kBlockChannels = kRhsPartColumns;
static_assert(kBlockChannels % kWordBits == 0);

// Bytes of accumulators that wait for the output transform: half of the smallest L1 (a quarter
// costs layers of 64 and 128 channels 3 %), or one tile if that is more.
constexpr size_t kStripBytes = 16 * 1024;

size_t StripTiles(const Bconv2dSpec& spec, int64_t tile_pixels) {
  const size_t pixel_bytes = static_cast<size_t>(spec.out_channels) * sizeof(int32_t);
  return std::max<size_t>(1, kStripBytes / pixel_bytes / static_cast<size_t>(tile_pixels));
}

}  // namespace

// One worker's memory.
struct Bconv2d::Scratch {
  TileProduct::Scratch product;
  int32_t* acc;    // [pixels of a strip, and the rows that its last tile writes][channels computed]
  int32_t* depth;  // [pixels of a strip]
};

Bconv2d::Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
                 const BgemmRow& row, const PixelOps& ops)
    : Bconv2d(spec, filter, std::move(transform), ops,
              std::make_unique<PlaneTiles>(spec, filter, row, ops)) {}

Bconv2d::Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
                 const ByteRow& row, const PixelOps& ops)
    : Bconv2d(spec, filter, std::move(transform), ops,
              std::make_unique<ByteTiles>(spec, filter, row, ops)) {}

Bconv2d::Bconv2d(const Bconv2dSpec& spec, const uint32_t* filter, OutputTransform transform,
                 const PixelOps& ops, std::unique_ptr<TileProduct> product)
    : spec_(spec),
      transform_(std::move(transform)),
      ops_(ops),
      product_(std::move(product)),
      strip_tiles_(StripTiles(spec, product_->tile_pixels())) {
  if (spec.IsPaddedWith(PadValue::kZero)) zero_padding_.emplace(spec, filter);
}

void Bconv2d::Resize(int64_t in_height, int64_t in_width) {
  grid_ = OutputGrid(spec_.window.Over(in_height, in_width));
  product_->Resize(grid_);
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

Bconv2d::Scratch Bconv2d::TakeScratch(ScratchParts& parts) const {
  const auto tile_pixels = static_cast<size_t>(product_->tile_pixels());
  const size_t strip = strip_tiles_ * tile_pixels;
  const size_t rows = strip - tile_pixels + static_cast<size_t>(product_->tile_rows());
  Scratch scratch;
  scratch.product = product_->TakeScratch(parts);
  scratch.acc = parts.Take<int32_t>(rows, static_cast<size_t>(spec_.out_channels));
  scratch.depth = parts.Take<int32_t>(strip, 1);
  return scratch;
}

size_t Bconv2d::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

void Bconv2d::Run(const uint32_t* input, int64_t first, int64_t last, int64_t first_block,
                  int64_t last_block, std::byte* scratch_memory, std::byte* output,
                  ResidualSum sum) const {
  if (first == last) return;
  assert(sum.addend == nullptr || transform_.kind == OutputKind::kFloat);
  assert((sum.gate == nullptr) == (sum.slopes == nullptr));
  ScratchParts parts(scratch_memory);
  Scratch scratch = TakeScratch(parts);
  const Channels channels = ChannelsOf(first_block, last_block);
  const size_t pixel_bytes = transform_.PixelBytes(static_cast<size_t>(spec_.out_channels));
  std::byte* out = output + transform_.PixelBytes(channels.first);
  if (sum.addend != nullptr) sum.addend += channels.first;
  if (sum.gate != nullptr) {
    sum.gate += channels.first;
    sum.slopes += channels.first;
  }
  const int64_t tile_pixels = product_->tile_pixels();
  std::fill_n(scratch.depth, strip_tiles_ * static_cast<size_t>(tile_pixels),
              static_cast<int32_t>(spec_.max_dot()));
  const EvenParts tiles = {.pixels = last - first,
                           .parts = (last - first + tile_pixels - 1) / tile_pixels,
                           .step = product_->tile_step()};
  // Callers ask for a part of the channels only if there is one group.
  ProductTile tile{.input = input,
                   .start = grid_.Locate(first),
                   .pixels = 0,
                   .first_channel = channels.first,
                   .channels = channels.count,
                   .acc = nullptr};
  int64_t begin = 0;
  for (int64_t next = 0; next < tiles.parts;) {
    const int64_t strip_end = std::min(next + static_cast<int64_t>(strip_tiles_), tiles.parts);
    size_t pixels = 0;
    for (; next < strip_end; ++next) {
      const int64_t end = tiles.Begin(next + 1);
      const int64_t m = end - begin;
      begin = end;
      tile.pixels = static_cast<size_t>(m);
      tile.acc = scratch.acc + pixels * channels.count;
      product_->Run(grid_, tile, scratch.product);
      if (zero_padding_) {
        zero_padding_->Correct(grid_, tile.start, tile.pixels, channels.first, channels.count,
                               tile.acc, scratch.depth + pixels);
      }
      pixels += tile.pixels;
      grid_.Advance(tile.start, m);
    }
    Transform(ops_, transform_,
              {.rows = pixels,
               .first_channel = channels.first,
               .channels = channels.count,
               .acc = scratch.acc,
               .acc_stride = channels.count,
               .depth = scratch.depth,
               .out = out,
               .out_stride = pixel_bytes,
               .sum = sum});
    out += pixels * pixel_bytes;
    if (sum.addend != nullptr) sum.addend += pixels * static_cast<size_t>(spec_.out_channels);
  }
}

}  // namespace larq_engine
