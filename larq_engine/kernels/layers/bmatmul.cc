#include "larq_engine/kernels/layers/bmatmul.h"

#include <algorithm>
#include <limits>

#include "larq_engine/kernels/binary/pack_rhs.h"

namespace larq_engine {

// One worker's memory.
struct Bmatmul::Scratch {
  uint32_t* packed;  // the right matrix
  float* of_column;  // what is added to a column, whatever its row
  uint32_t* filled;  // the rows of a tile, if the kernel reads more words than they have
  int32_t* acc;      // [rows of a tile][columns]
};

Bmatmul::Bmatmul(const BmatmulSpec& spec, size_t columns, const BgemmRow& row, const PixelOps& ops)
    : spec_(spec),
      columns_(columns),
      row_(row),
      ops_(ops),
      words_(WordsFor(static_cast<size_t>(spec.depth))),
      filled_words_(RoundUp(words_, row.kr_words())),
      of_dot_(columns, spec.of_dot),
      depth_(static_cast<size_t>(row.mr), static_cast<int32_t>(spec.depth)) {
  for (size_t i = 0; i < depth_.size(); ++i) {
    runs_.push_back(static_cast<ptrdiff_t>(i * filled_words_));
  }
}

Bmatmul::Scratch Bmatmul::TakeScratch(ScratchParts& parts) const {
  const auto tile = static_cast<size_t>(row_.mr);
  Scratch scratch{};
  scratch.packed = parts.Take<uint32_t>(PackedRhsWords(row_, columns_, words_), 1);
  scratch.of_column = parts.Take<float>(columns_, 1);
  scratch.filled = parts.Take<uint32_t>(filled_words_ == words_ ? 0 : tile, filled_words_);
  scratch.acc = parts.Take<int32_t>(tile, columns_);
  return scratch;
}

size_t Bmatmul::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

void Bmatmul::Pack(const uint32_t* right, const Scratch& scratch) const {
  PackRhs(row_, right, columns_, words_, scratch.packed);
  for (size_t j = 0; j < columns_; ++j) {
    float sum = 0;
    if (spec_.of_right != 0) {
      sum = static_cast<float>(SumOfSigns(right + j * words_, spec_.depth)) * spec_.of_right;
    }
    scratch.of_column[j] = sum + spec_.constant;
  }
}

// Returns the rows of a tile as the kernel reads them: with zeros up to whole steps.
const uint32_t* Bmatmul::FillUp(const uint32_t* left, size_t rows, const Scratch& scratch) const {
  if (filled_words_ == words_) return left;
  uint32_t* filled = scratch.filled;
  for (size_t i = 0; i < rows; ++i, left += words_, filled += filled_words_) {
    std::fill(std::copy_n(left, words_, filled), filled + filled_words_, 0);
  }
  return scratch.filled;
}

void Bmatmul::Run(const uint32_t* left, size_t rows, const uint32_t* right, std::byte* memory,
                  float* output) const {
  if (rows == 0 || columns_ == 0) return;
  ScratchParts parts(memory);
  const Scratch scratch = TakeScratch(parts);
  Pack(right, scratch);
  while (rows > 0) {
    const size_t tile = std::min(rows, static_cast<size_t>(row_.mr));
    row_.fn({.m = tile,
             .n = columns_,
             .segments = 1,
             .segment_words = filled_words_,
             .lhs_base = FillUp(left, tile, scratch),
             .lhs = runs_.data(),
             .rhs = scratch.packed,
             .acc = scratch.acc,
             .acc_stride = columns_});
    ops_.to_float({.rows = tile,
                   .channels = columns_,
                   .acc = scratch.acc,
                   .acc_stride = columns_,
                   .depth = depth_.data(),
                   .multiplier = of_dot_.data(),
                   .bias = scratch.of_column,
                   .dot_min = std::numeric_limits<int32_t>::min(),
                   .dot_max = std::numeric_limits<int32_t>::max(),
                   .zero_point = 0,
                   .dot_limit = nullptr,
                   .out = output,
                   .out_stride = columns_ * sizeof(float)});
    for (size_t i = 0; spec_.of_left != 0 && i < tile; ++i) {
      const float sum =
          static_cast<float>(SumOfSigns(left + i * words_, spec_.depth)) * spec_.of_left;
      float* row = output + i * columns_;
      for (size_t j = 0; j < columns_; ++j) row[j] += sum;
    }
    left += tile * words_;
    output += tile * columns_;
    rows -= tile;
  }
}

}  // namespace larq_engine
