#include "larq_engine/kernels/layers/transposed_copy.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace larq_engine {
namespace {

// Floats of so many columns fill a line of the cache, which then is read once for all of them.
constexpr int64_t kColumnsTogether = 16;

template <typename Element>
void Copy(const std::byte* matrix, const ColumnsOfMatrix& places, int64_t first_row,
          int64_t first_column, int64_t last_column, std::byte* out) {
  constexpr int64_t kBytes = sizeof(Element);
  for (int64_t row = first_row; row < places.rows; ++row) {
    const std::byte* from = matrix + row * places.row_stride * kBytes;
    for (int64_t column = first_column; column < last_column; ++column) {
      std::memcpy(out + (column * places.rows + row) * kBytes, from + column * kBytes, kBytes);
    }
  }
}

template <typename Element>
void CopyAll(const std::byte* matrix, const ColumnsOfMatrix& places, std::byte* out) {
  for (int64_t column = 0; column < places.columns; column += kColumnsTogether) {
    Copy<Element>(matrix, places, 0, column, std::min(places.columns, column + kColumnsTogether),
                  out);
  }
}

// Copies elements of 4 bytes, four rows and columns at once.
void CopyFours(const std::byte* matrix, const ColumnsOfMatrix& places, std::byte* out) {
  using Four = uint32_t __attribute__((vector_size(16)));
  constexpr int64_t kBytes = sizeof(uint32_t);
  const int64_t rows = places.rows / 4 * 4;
  const auto copy = [&](int64_t row, int64_t column) {
    Four in[4];
    const std::byte* from = matrix + (row * places.row_stride + column) * kBytes;
#pragma GCC unroll 4
    for (int64_t j = 0; j < 4; ++j) {
      std::memcpy(&in[j], from + j * places.row_stride * kBytes, sizeof(Four));
    }
    const Four low01 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
    const Four high01 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
    const Four low23 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
    const Four high23 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
    const Four turned[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                            __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                            __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                            __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    std::byte* to = out + (column * places.rows + row) * kBytes;
#pragma GCC unroll 4
    for (int64_t j = 0; j < 4; ++j) {
      std::memcpy(to + j * places.rows * kBytes, &turned[j], sizeof(Four));
    }
  };
  for (int64_t first = 0; first < places.columns; first += kColumnsTogether) {
    const int64_t last = std::min(places.columns, first + kColumnsTogether);
    const int64_t fours = first + (last - first) / 4 * 4;
    for (int64_t row = 0; row < rows; row += 4) {
      for (int64_t column = first; column < fours; column += 4) copy(row, column);
    }
    Copy<uint32_t>(matrix, places, rows, first, fours, out);
    Copy<uint32_t>(matrix, places, 0, fours, last, out);
  }
}

}  // namespace

void CopyTransposed(const std::byte* matrix, const ColumnsOfMatrix& places, size_t element_bytes,
                    std::byte* out) {
  switch (element_bytes) {
    case 1:
      return CopyAll<uint8_t>(matrix, places, out);
    case 2:
      return CopyAll<uint16_t>(matrix, places, out);
    case 4:
      return CopyFours(matrix, places, out);
    default:
      assert(element_bytes == sizeof(uint64_t));
      return CopyAll<uint64_t>(matrix, places, out);
  }
}

}  // namespace larq_engine
