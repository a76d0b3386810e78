#include "larq_engine/kernels/layers/signed_bytes.h"

#include <algorithm>
#include <vector>

#include "larq_engine/kernels/bytes/pack_bytes.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/operands.h"

namespace larq_engine {
namespace {

// Bytes of the columns whose weights stay in L2 while all rows of a Run meet them, and the most
// columns: their sums must stay in L1. AMX takes a third longer for a product of few columns.
constexpr size_t kColumnBytes = size_t{1} << 19;
constexpr size_t kMostColumns = 256;

// Bytes of the inputs of a Run, and the most rows, which are those of a tile of steps.
constexpr size_t kInputBytes = size_t{1} << 20;
constexpr size_t kMostRowsOfRun = 256;

// Computing row by row takes in 82 weights a cycle with AVX-512, and 40 with AVX2. AVX2's products
// of bytes are slower than that. Those of AVX-512 first wait for eight times as many bytes of
// weights, and longer if these are not in L2.
constexpr int kLeastMacs = 100;
constexpr int64_t kLeastRows = 4;
constexpr int64_t kLeastRowsOfLarge = 8;
constexpr int64_t kLargeWeights = 1 << 21;

// Returns the rows of whole tiles: as many tiles as `rows` is enough for, but at least one.
size_t WholeTiles(size_t rows, size_t of_tile) {
  return std::max(rows / of_tile, size_t{1}) * of_tile;
}

}  // namespace

bool PrefersSignedBytes(const ByteRow& row, int64_t input_rows, int64_t weights) {
  return row.macs_per_cycle >= kLeastMacs &&
         input_rows >= (weights < kLargeWeights ? kLeastRows : kLeastRowsOfLarge);
}

struct SignedBytes::Scratch {
  uint8_t* inputs;  // [rows_][row_bytes_]
  int32_t* sums;    // [rows of a tile][columns_]
};

SignedBytes::SignedBytes(const PackedWeights& weights, const Int8DenseOutput& output,
                         const ByteRow& row, const PixelOps& ops)
    : output_(output),
      row_(row),
      ops_(ops),
      flip_(FlipOfInt8(row)),
      units_(output.bias.size()),
      depth_(weights.elements / units_),
      filled_(RoundUp(depth_, static_cast<size_t>(row.kr))),
      row_bytes_(RoundUp(filled_, kBufferAlignment)),
      rows_(WholeTiles(std::min(kInputBytes / row_bytes_, kMostRowsOfRun),
                       static_cast<size_t>(row.mr))),
      columns_(std::clamp(kColumnBytes / row_bytes_ / kRhsPartColumns * kRhsPartColumns,
                          kRhsPartColumns, kMostColumns)),
      start_(RoundUp(units_, kRhsPartColumns)) {
  AlignedBuffer<int8_t> packed(PackedBytes(row, units_, depth_));
  std::vector<int8_t> part(MemoryProduct(std::min(units_, kRhsPartColumns), depth_));
  std::fill_n(start_.data(), start_.size(), 0);
  for (size_t first = 0; first < units_; first += kRhsPartColumns) {
    const size_t columns = std::min(kRhsPartColumns, units_ - first);
    const bool one_scale = weights.scales == 1;
    UnpackWeights({.bits = weights.bits + first * depth_ / kWordBits,
                   .scale = weights.scale + (one_scale ? 0 : first),
                   .elements = columns * depth_,
                   .scales = one_scale ? 1 : columns,
                   .inner = one_scale ? columns * depth_ : depth_},
                  part.data());
    PackBytes(row, part.data(), columns, depth_, packed.data() + first * filled_);
    // Sums wrap, as the host's do.
    for (size_t j = 0; j < columns; ++j) {
      uint32_t sum = 0;
      for (size_t k = 0; k < depth_; ++k) sum += static_cast<uint32_t>(part[j * depth_ + k]);
      start_.data()[first + j] =
          static_cast<int32_t>(static_cast<uint32_t>(output.bias[first + j]) - flip_ * sum);
    }
  }
  packed_ = SharedBuffer(std::move(packed));
}

SignedBytes::Scratch SignedBytes::TakeScratch(ScratchParts& parts) const {
  Scratch scratch;
  scratch.inputs = parts.Take<uint8_t>(rows_, row_bytes_);
  scratch.sums = parts.Take<int32_t>(static_cast<size_t>(row_.mr), columns_);
  return scratch;
}

size_t SignedBytes::scratch_bytes() const {
  ScratchParts parts(nullptr);
  TakeScratch(parts);
  return parts.bytes();
}

void SignedBytes::Run(const int8_t* in, const SignedDenseRange& range, std::byte* scratch_memory,
                      int8_t* out) const {
  ScratchParts parts(scratch_memory);
  const Scratch scratch = TakeScratch(parts);
  const size_t last_column = std::min(range.last_block * kSignedLanes, units_);
  for (size_t begin = range.first_row; begin < range.last_row; begin += rows_) {
    const size_t rows = std::min(rows_, range.last_row - begin);
    for (size_t r = 0; r < rows; ++r) {
      const int8_t* from = in + (begin + r) * depth_;
      uint8_t* to = scratch.inputs + r * row_bytes_;
      for (size_t k = 0; k < depth_; ++k) to[k] = static_cast<uint8_t>(from[k]) ^ flip_;
      std::fill(to + depth_, to + filled_, uint8_t{0});
    }
    int8_t* out_rows = out + (begin - range.first_row) * units_;
    for (size_t c = range.first_block * kSignedLanes; c < last_column; c += columns_) {
      const size_t columns = std::min(columns_, last_column - c);
      for (size_t r = 0; r < rows; r += static_cast<size_t>(row_.mr)) {
        const size_t m = std::min(static_cast<size_t>(row_.mr), rows - r);
        row_.fn({.m = m,
                 .n = columns,
                 .segments = 1,
                 .segment_bytes = filled_,
                 .segment_stride = 0,
                 .lhs = scratch.inputs + r * row_bytes_,
                 .lhs_stride = row_bytes_,
                 .rhs = packed_.data() + c * filled_,
                 .start = start_.data() + c,
                 .acc = scratch.sums,
                 .acc_stride = columns_});
        for (size_t i = 0; i < m; ++i) {
          ops_.round_sums(scratch.sums + i * columns_, output_.multiplier.data() + c, columns,
                          output_.range, output_.zero_point, out_rows + (r + i) * units_ + c);
        }
      }
    }
  }
}

}  // namespace larq_engine
