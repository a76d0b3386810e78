#include "larq_engine/kernels/layers/plane_tiles.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace larq_engine {
namespace {

// Calls the micro-kernel. No other function does, so its assertions are the caller's half of the
// contract.
void RunBgemm(const BgemmRow& row, const BgemmArgs& args) {
  assert(args.m >= 1 && args.m <= static_cast<size_t>(row.mr) && args.n >= 1);
  assert(args.segment_words % row.kr_words() == 0);
  assert(reinterpret_cast<uintptr_t>(args.rhs) % kBufferAlignment == 0);
  row.fn(args);
}

// Returns [planes][taps of all filters][words of a tap] for filters that have planes in each tap.
std::vector<uint32_t> SplitPlanes(const Bconv2dSpec& spec, const uint32_t* filter) {
  const size_t planes = static_cast<size_t>(spec.bits_weights);
  const size_t taps = static_cast<size_t>(spec.out_channels * spec.window.taps());
  const size_t words = spec.tap_words();
  std::vector<uint32_t> split(planes * taps * words);
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t plane = 0; plane < planes; ++plane, filter += words) {
      std::copy_n(filter, words, split.data() + (plane * taps + tap) * words);
    }
  }
  return split;
}

// Packs the filters of each plane, one group after the other.
PackedFilters PackFilters(const Bconv2dSpec& spec, const BgemmRow& row, const TapGatherer& gatherer,
                          const uint32_t* filter) {
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

}  // namespace

PlaneTiles::PlaneTiles(const Bconv2dSpec& spec, const uint32_t* filter, const BgemmRow& row,
                       const PixelOps& ops)
    : spec_(spec),
      row_(row),
      ops_(ops),
      runs_(spec, static_cast<size_t>(row.mr)),
      gatherer_(spec, row),
      filters_(PackFilters(spec, row, gatherer_, filter)) {}

PlaneTiles::Scratch PlaneTiles::TakeScratch(ScratchParts& parts) const {
  Scratch scratch{};
  scratch.taps = runs_.TakeScratch(parts);
  scratch.gather = gatherer_.TakeScratch(parts);
  scratch.part = parts.Take<int32_t>(spec_.has_planes() ? static_cast<size_t>(row_.mr) : 0,
                                     static_cast<size_t>(spec_.out_channels));
  return scratch;
}

// Adds the products of one group and plane of the image, which is the left side of `args`, with
// each plane of the group's filters.
void PlaneTiles::RunProducts(size_t group, int64_t plane, const ProductTile& tile,
                             const Scratch& scratch, BgemmArgs& args) const {
  int32_t* group_acc = tile.acc + group * args.n;
  for (int64_t filter_plane = 0; filter_plane < spec_.bits_weights; ++filter_plane) {
    const int shift = static_cast<int>(plane + filter_plane);
    const size_t part = static_cast<size_t>(filter_plane * spec_.groups) + group;
    args.rhs = filters_.Columns(part, tile.first_channel);
    args.acc = shift == 0 ? group_acc : scratch.part;
    RunBgemm(row_, args);
    if (shift > 0) AddProduct(ops_, args, shift, group_acc);
  }
}

void PlaneTiles::Run(const OutputGrid& grid, const ProductTile& tile, Scratch& scratch) const {
  BgemmArgs args{.m = tile.pixels,
                 .n = tile.channels / static_cast<size_t>(spec_.groups),
                 .segments = 0,
                 .segment_words = 0,
                 .lhs_base = nullptr,
                 .lhs = nullptr,
                 .rhs = nullptr,
                 .acc = nullptr,
                 .acc_stride = tile.channels};
  for (int64_t plane = 0; plane < spec_.bits_in; ++plane) {
    const uint32_t* group_input = tile.input + static_cast<size_t>(plane) * spec_.plane_words();
    for (size_t group = 0; group < static_cast<size_t>(spec_.groups); ++group) {
      runs_.Find(grid, group_input, tile.start, scratch.taps, args);
      if (!gatherer_.in_place()) gatherer_.Gather(scratch.gather, args);
      RunProducts(group, plane, tile, scratch, args);
      group_input += spec_.tap_words();
    }
  }
}

}  // namespace larq_engine
