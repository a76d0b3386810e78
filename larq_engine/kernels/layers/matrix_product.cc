#include "larq_engine/kernels/layers/matrix_product.h"

#include <algorithm>
#include <array>
#include <limits>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t Filled(int64_t columns) {
  return static_cast<int64_t>(RoundUp(static_cast<size_t>(columns), kFloatLanes));
}

}  // namespace

MatrixProduct::MatrixProduct(const FloatRow& row)
    : row_(row), bias_(RoundUp(static_cast<size_t>(row.nr), kFloatLanes)) {
  std::fill_n(bias_.data(), bias_.size(), 0.0f);
}

void MatrixProduct::Resize(const Sizes& sizes) {
  sizes_ = sizes;
  TakeScratch(nullptr, scratch_bytes_);
}

MatrixProduct::Scratch MatrixProduct::TakeScratch(std::byte* memory, size_t& bytes) const {
  ScratchParts parts(memory);
  const auto depth = static_cast<size_t>(sizes_.depth);
  Scratch scratch = {.packed = parts.Take<float>(depth, bias_.size()), .rows = nullptr};
  if (sizes_.left_is_transposed) scratch.rows = parts.Take<float>(depth, kFloatPixels);
  bytes = parts.bytes();
  return scratch;
}

int64_t MatrixProduct::column_blocks() const {
  return std::max<int64_t>(1, (sizes_.columns + row_.nr - 1) / row_.nr);
}

void MatrixProduct::Run(const float* left, const float* right, int64_t first, int64_t last,
                        int64_t first_block, int64_t last_block, std::byte* scratch,
                        float* output) const {
  size_t bytes = 0;
  const Scratch parts = TakeScratch(scratch, bytes);
  for (int64_t block = first_block; block < last_block; ++block) {
    const int64_t column = block * row_.nr;
    const int64_t columns = std::min<int64_t>(row_.nr, sizes_.columns - column);
    if (sizes_.depth > 0) PackColumns(right, column, columns, parts.packed);
    RunBlock(left, first, last, parts, columns, output + column);
  }
}

// Packs columns from `first` on as clause RightSide of float_product.h demands.
void MatrixProduct::PackColumns(const float* right, int64_t first, int64_t columns,
                                float* packed) const {
  const int64_t filled = Filled(columns);
  for (int64_t k = 0; k < sizes_.depth; ++k) {
    float* row = packed + k * filled;
    if (sizes_.right_is_transposed) {
      const float* value = right + first * sizes_.depth + k;
      for (int64_t c = 0; c < columns; ++c) row[c] = value[c * sizes_.depth];
    } else {
      std::copy_n(right + k * sizes_.columns + first, columns, row);
    }
    std::fill(row + columns, row + filled, 0.0f);
  }
}

void MatrixProduct::RunBlock(const float* left, int64_t first, int64_t last, const Scratch& scratch,
                             int64_t columns, float* output) const {
  std::array<ptrdiff_t, kFloatPixels> runs;
  for (size_t i = 0; i < kFloatPixels; ++i) {
    runs[i] = static_cast<ptrdiff_t>(i) * static_cast<ptrdiff_t>(sizes_.depth);
  }
  FloatArgs args{};
  args.n = static_cast<size_t>(columns);
  args.segments = 1;
  args.segment_words = args.pixel_step = static_cast<size_t>(sizes_.depth);
  args.lhs = runs.data();
  args.rhs = scratch.packed;
  args.bias = bias_.data();
  args.range = {.min = -kInfinity, .max = kInfinity};
  args.out = output;
  args.out_stride = static_cast<size_t>(sizes_.columns);
  for (int64_t row = first; row < last; row += static_cast<int64_t>(args.m)) {
    args.m = static_cast<size_t>(std::min(last - row, static_cast<int64_t>(kFloatPixels)));
    if (sizes_.depth == 0) {
      for (size_t i = 0; i < args.m; ++i) std::fill_n(args.out + i * args.out_stride, args.n, 0.0f);
    } else {
      args.lhs_base = left + row * sizes_.depth;
      if (sizes_.left_is_transposed) {
        for (size_t i = 0; i < args.m; ++i) {
          const float* value = left + row + static_cast<int64_t>(i);
          for (int64_t k = 0; k < sizes_.depth; ++k) {
            scratch.rows[static_cast<int64_t>(i) * sizes_.depth + k] = value[k * sizes_.rows];
          }
        }
        args.lhs_base = scratch.rows;
      }
      row_.of_pixels(args);
    }
    args.out += args.m * args.out_stride;
  }
}

}  // namespace larq_engine
