#include "larq_engine/kernels/layers/tap_runs.h"

#include <algorithm>

#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {

TapRuns::TapRuns(const Bconv2dSpec& spec, size_t mr)
    : mr_(mr),
      taps_(static_cast<size_t>(spec.window.taps())),
      tap_words_(spec.tap_words()),
      pixel_words_(spec.pixel_words()) {
  const size_t taps_in_run =
      spec.lines_are_runs() ? static_cast<size_t>(spec.window.width.taps) : 1;
  inner_segments_ = taps_ / taps_in_run;
  inner_segment_words_ = taps_in_run * tap_words_;
  padding_run_.assign(pixel_words_ - tap_words_ + inner_segment_words_, 0);
  if (spec.IsPaddedWith(PadValue::kMinusOne)) {
    std::fill(padding_run_.begin(), padding_run_.end(), ~uint32_t{0});
    const uint32_t last_word = TailMask(static_cast<size_t>(spec.group_in_channels()));
    for (size_t end = tap_words_; end <= padding_run_.size(); end += tap_words_) {
      padding_run_[end - 1] = last_word;
    }
  }
}

void TapRuns::Resize(const OutputGrid& grid) {
  const WindowAxis& height = grid.height();
  const WindowAxis& width = grid.width();
  // Only tiles with all taps in the image use these offsets, so every product that is used fits.
  const auto words = [&](int64_t y, int64_t x) {
    const uint64_t pixels =
        static_cast<uint64_t>(y) * static_cast<uint64_t>(width.in) + static_cast<uint64_t>(x);
    return static_cast<ptrdiff_t>(pixels * pixel_words_);
  };
  inner_taps_.clear();
  inner_runs_.clear();
  const int64_t taps_in_run = static_cast<int64_t>(taps_ / inner_segments_);
  for (int64_t ty = 0; ty < height.taps; ++ty) {
    for (int64_t tx = 0; tx < width.taps; ++tx) {
      for (int64_t i = 0; i < static_cast<int64_t>(mr_); ++i) {
        inner_taps_.push_back(words(ty * height.dilation, tx * width.dilation + i * width.stride));
        if (tx % taps_in_run == 0) inner_runs_.push_back(inner_taps_.back());
      }
    }
  }
}

// Returns the runs of a tile some of whose filter lines lie wholly above or below the image.
const ptrdiff_t* TapRuns::PadLines(const OutputGrid& grid, const Position& start, ptrdiff_t* runs,
                                   const BgemmArgs& tile) const {
  const ptrdiff_t padding = LhsOffset(tile.lhs_base, padding_run_.data());
  const WindowAxis::Taps ys = grid.height().InsideTaps(start.y);
  const size_t line = inner_runs_.size() / static_cast<size_t>(grid.height().taps);
  for (int64_t ty = 0; ty < grid.height().taps; ++ty) {
    const bool inside = ty >= ys.first && ty < ys.last;
    for (size_t i = static_cast<size_t>(ty) * line; i < static_cast<size_t>(ty + 1) * line; ++i) {
      runs[i] = inside ? inner_runs_[i] : padding;
    }
  }
  return runs;
}

// Returns the taps of any tile. Most of its pixels are inner ones, mostly in the line of the first
// pixel, and few taps of the others are outside.
const ptrdiff_t* TapRuns::PadTaps(const OutputGrid& grid, const Position& start, ptrdiff_t* taps,
                                  const BgemmArgs& tile) const {
  const ptrdiff_t padding = LhsOffset(tile.lhs_base, padding_run_.data());
  std::copy(inner_taps_.begin(), inner_taps_.end(), taps);
  Position position = start;
  for (size_t i = 0; i < tile.m; ++i, grid.Advance(position, 1)) {
    if (position.y != start.y || position.image != start.image) {
      const size_t from_start =  // sums may wrap, as FirstTap may
          static_cast<size_t>(FirstTap(grid, position)) -
          static_cast<size_t>(FirstTap(grid, start));
      for (size_t tap = 0; tap < inner_taps_.size(); tap += mr_) {
        taps[tap + i] = static_cast<ptrdiff_t>(static_cast<size_t>(inner_taps_[tap]) + from_start);
      }
    }
    if (!grid.IsInnerLine(position) || !grid.AreInnerInLine(position, 1)) {
      PadTapsOfPixel(grid, position, padding, taps + i);
    }
  }
  return taps;
}

// Sets those taps of a pixel that are outside to `padding`. Each tap is mr entries after the one
// before.
void TapRuns::PadTapsOfPixel(const OutputGrid& grid, const Position& position, ptrdiff_t padding,
                             ptrdiff_t* taps) const {
  const WindowAxis& height = grid.height();
  const WindowAxis& width = grid.width();
  const WindowAxis::Taps ys = height.InsideTaps(position.y);
  const WindowAxis::Taps xs = width.InsideTaps(position.x);
  const auto pad = [&](int64_t ty, int64_t first, int64_t last) {
    for (int64_t tx = first; tx < last; ++tx) {
      taps[(ty * width.taps + tx) * static_cast<int64_t>(mr_)] = padding;
    }
  };
  for (int64_t ty = 0; ty < height.taps; ++ty) {
    const bool inside = ty >= ys.first && ty < ys.last;
    pad(ty, 0, inside ? xs.first : width.taps);
    if (inside) pad(ty, xs.last, width.taps);
  }
}

}  // namespace larq_engine
