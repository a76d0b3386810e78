// Tests the copy that makes rows of a matrix's columns.
#include "larq_engine/kernels/layers/transposed_copy.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::GuardedBuffer;

// The matrix's last row ends at an inaccessible page, and so does the output.
template <typename Element>
void ExpectColumns(int64_t rows, int64_t columns, int64_t gap, testing::Random& random) {
  const ColumnsOfMatrix places{.rows = rows, .columns = columns, .row_stride = columns + gap};
  std::vector<Element> values(static_cast<size_t>((rows - 1) * places.row_stride + columns));
  for (Element& value : values) value = static_cast<Element>(random.Int(0, 1 << 30));
  const GuardedBuffer<Element> matrix{std::span<const Element>(values)};
  GuardedBuffer<Element> out(static_cast<size_t>(rows * columns));
  CopyTransposed(reinterpret_cast<const std::byte*>(matrix.data()), places, sizeof(Element),
                 reinterpret_cast<std::byte*>(out.data()));
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) {
      ASSERT_EQ(out.data()[column * rows + row],
                values[static_cast<size_t>(row * places.row_stride + column)])
          << row << ", " << column << " of " << rows << " x " << columns;
    }
  }
}

TEST(CopyTransposed, MakesRowsOfColumns) {
  testing::Random random;
  SCOPED_TRACE(testing::ReplayHint());
  for (const int64_t rows : {1, 3, 4, 7, 16, 33}) {
    for (const int64_t columns : {1, 3, 4, 15, 16, 18, 37}) {
      for (const int64_t gap : {0, 5}) {
        ExpectColumns<uint8_t>(rows, columns, gap, random);
        ExpectColumns<uint16_t>(rows, columns, gap, random);
        ExpectColumns<uint32_t>(rows, columns, gap, random);
        ExpectColumns<uint64_t>(rows, columns, gap, random);
      }
    }
  }
}

}  // namespace
}  // namespace larq_engine
