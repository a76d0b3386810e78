// Tests dense layers of bits as products of bytes, over every row of products that takes their
// weights, against sums written from signed_dense_output.h. A row that this CPU lacks is listed as
// skipped.
#include "larq_engine/kernels/layers/signed_bytes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/pixels/select.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"
#include "tests/kernels/row_test.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;

std::vector<ByteRow> RowsOfSevenPlanes() {
  std::vector<ByteRow> rows;
  for (const ByteRow& row : ByteRows()) {
    if (row.weight_planes >= 7) rows.push_back(row);
  }
  return rows;
}

class SignedBytesTest : public testing::RowTest<ByteRow> {};

struct Layer {
  size_t units;
  size_t depth;
  std::vector<uint32_t> bits;
  std::vector<float> scale;  // for each unit, or one for all
  Int8DenseOutput output;
};

Layer MakeLayer(Random& random, size_t units, size_t depth, bool one_scale) {
  Layer layer = {.units = units,
                 .depth = depth,
                 .bits = random.Words((units * depth + 31) / 32),
                 .scale = std::vector<float>(one_scale ? 1 : units),
                 .output = {}};
  for (float& scale : layer.scale) scale = static_cast<float>(random.Int(-127, 127));
  Int8DenseOutput& output = layer.output;
  output.zero_point = static_cast<int32_t>(random.Int(-128, 127));
  output.range = {static_cast<float>(-128 - output.zero_point),
                  static_cast<float>(127 - output.zero_point)};
  for (size_t i = 0; i < units; ++i) {
    output.weight.push_back(static_cast<int32_t>(layer.scale[one_scale ? 0 : i]));
    output.bias.push_back(static_cast<int32_t>(random.Int(-5000, 5000)));
    output.multiplier.push_back(random.Float(0, 0.01f / std::sqrt(static_cast<float>(depth))));
  }
  return layer;
}

int8_t Expected(const Layer& layer, const int8_t* inputs, size_t unit) {
  int32_t sum = 0;
  for (size_t i = 0; i < layer.depth; ++i) {
    const size_t bit = unit * layer.depth + i;
    sum += (layer.bits[bit / 32] >> bit % 32 & 1) != 0 ? -inputs[i] : inputs[i];
  }
  const Int8DenseOutput& output = layer.output;
  sum = sum * output.weight[unit] + output.bias[unit];
  const float rounded = std::nearbyint(static_cast<float>(sum) * output.multiplier[unit]);
  const float kept = std::fmin(std::fmax(rounded, output.range.min), output.range.max);
  return static_cast<int8_t>(static_cast<int32_t>(kept) + output.zero_point);
}

void Check(const Layer& layer, const ByteRow& row, const SignedDenseRange& range, Random& random,
           Guard guard) {
  const PackedWeights weights = {
      .bits = layer.bits.data(),
      .scale = layer.scale.data(),
      .elements = layer.units * layer.depth,
      .scales = layer.scale.size(),
      .inner = layer.scale.size() == 1 ? layer.units * layer.depth : layer.depth};
  const SignedBytes bytes(weights, layer.output, row, SelectPixelOps(DetectCpuFeatures()));
  std::vector<int8_t> inputs(range.last_row * layer.depth);
  for (int8_t& value : inputs) value = static_cast<int8_t>(random.Word());
  const GuardedBuffer<int8_t> in{std::span<const int8_t>(inputs), guard};
  constexpr int8_t kUntouched = 77;
  const size_t rows = range.last_row - range.first_row;
  const std::vector<int8_t> before(rows * layer.units, kUntouched);
  GuardedBuffer<int8_t> out{std::span<const int8_t>(before), guard};
  AlignedBuffer<std::byte> scratch(bytes.scratch_bytes());
  bytes.Run(in.data(), range, scratch.data(), out.data());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t unit = 0; unit < layer.units; ++unit) {
      const size_t block = unit / kSignedLanes;
      const bool in_range = block >= range.first_block && block < range.last_block;
      const int8_t* row_inputs = inputs.data() + (range.first_row + r) * layer.depth;
      ASSERT_EQ(out.data()[r * layer.units + unit],
                in_range ? Expected(layer, row_inputs, unit) : kUntouched)
          << "row " << r << ", unit " << unit << " of " << layer.units << ", depth " << layer.depth;
    }
  }
}

TEST_P(SignedBytesTest, AreRoundedSums) {
  for (size_t units : {1, 16, 63, 64, 65, 200, 330}) {
    for (size_t depth : {1, 31, 64, 100, 257}) {
      const Layer layer = MakeLayer(random_, units, depth, depth % 2 == 0);
      const size_t blocks = (units + kSignedLanes - 1) / kSignedLanes;
      const auto rows = static_cast<size_t>(random_.Int(1, 70));
      for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
        Check(layer, GetParam(), {0, rows, 0, blocks}, random_, guard);
      }
    }
  }
}

TEST_P(SignedBytesTest, OfPartsOfRowsAndUnits) {
  const Layer layer = MakeLayer(random_, 300, 130, false);
  for (const SignedDenseRange& range :
       {SignedDenseRange{3, 40, 4, 8}, {0, 5, 16, 19}, {7, 8, 0, 4}, {2, 2, 0, 19}}) {
    Check(layer, GetParam(), range, random_, Guard::kAfter);
  }
}

// There are more rows than a Run takes at once; in one case a single row of inputs is as long as
// all the inputs that a Run holds.
TEST_P(SignedBytesTest, OfMoreRowsThanAreComputedAtOnce) {
  Check(MakeLayer(random_, 20, 40, true), GetParam(), {0, 600, 0, 2}, random_, Guard::kAfter);
  Check(MakeLayer(random_, 3, kMaxSignedDepth, true), GetParam(), {0, 70, 0, 1}, random_,
        Guard::kAfter);
}

INSTANTIATE_TEST_SUITE_P(Rows, SignedBytesTest, ::testing::ValuesIn(RowsOfSevenPlanes()),
                         [](const auto& info) { return std::string(info.param.name); });

// A tile of steps has at most 256 rows.
TEST(SignedBytes, ARunHasWholeTiles) {
  Random random;
  for (size_t depth : {1, 1000, 5000, 60000}) {
    const Layer layer = MakeLayer(random, 1, depth, true);
    for (const ByteRow& row : RowsOfSevenPlanes()) {
      const SignedBytes bytes({.bits = layer.bits.data(),
                               .scale = layer.scale.data(),
                               .elements = depth,
                               .scales = 1,
                               .inner = depth},
                              layer.output, row, SelectPixelOps({}));
      EXPECT_GE(bytes.rows(), static_cast<size_t>(row.mr));
      EXPECT_LE(bytes.rows(), 256u);
      EXPECT_EQ(bytes.rows() % static_cast<size_t>(row.mr), 0u);
    }
  }
}

}  // namespace
}  // namespace larq_engine
