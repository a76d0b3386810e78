// Tests the steps of operators that read their inputs anywhere, in pieces of any size: products of
// matrices, transposed convolutions, images of another size, and gathered rows.
#include <cstdint>

#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "tests/common/seed.h"
#include "tests/runtime/cpu/step_runner.h"

namespace larq_engine {
namespace {

using testing::kPieceSizes;
using testing::kWhole;
using testing::PieceSize;
using testing::Random;
using testing::StepRunner;
using Dims = std::vector<int>;
using Floats = std::vector<float>;

constexpr float kUntouched = -99.0f;

size_t Count(const Dims& dims) {
  size_t count = 1;
  for (int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

// Draws quarters, whose sums are exact.
Floats Quarters(Random& random, size_t count) {
  Floats values(count);
  for (float& value : values) value = static_cast<float>(random.Int(-8, 8)) / 4;
  return values;
}

// Expects it of each kind of kernels, in each kind of pieces.
void ExpectInPieces(const Op& op, const std::vector<Dims>& dims,
                    std::span<const void* const> inputs, const Floats& expected) {
  for (const char* kernel : {"auto", "reference"}) {
    StepRunner runner(op, kernel);
    EXPECT_EQ(Count(runner.ResizeAll(dims)), expected.size());
    for (const PieceSize& size : kPieceSizes) {
      EXPECT_EQ(runner.RunAll(inputs, size, kUntouched), expected)
          << ::testing::PrintToString(dims) << " in pieces of " << size.pixels << " x "
          << size.blocks << ", kernel " << kernel;
    }
  }
}

struct Product {
  int batches;
  int rows;
  int depth;
  int columns;
  bool swaps_left = false;
  bool swaps_right = false;
};

Floats Multiply(const Product& of, const Floats& left, const Floats& right) {
  Floats made;
  for (int batch = 0; batch < of.batches; ++batch) {
    for (int row = 0; row < of.rows; ++row) {
      for (int column = 0; column < of.columns; ++column) {
        float sum = 0;
        for (int k = 0; k < of.depth; ++k) {
          const int a = of.swaps_left ? k * of.rows + row : row * of.depth + k;
          const int b = of.swaps_right ? column * of.depth + k : k * of.columns + column;
          sum += left[static_cast<size_t>(batch * of.rows * of.depth + a)] *
                 right[static_cast<size_t>(b)];
        }
        made.push_back(sum);
      }
    }
  }
  return made;
}

TEST(ProductSteps, MatricesInPieces) {
  Random random;
  for (const Product& of : {Product{1, 3, 4, 5, false, false}, Product{3, 26, 7, 70, false, true},
                            Product{2, 13, 9, 130, true, false}, Product{2, 25, 33, 16, true, true},
                            Product{1, 5, 0, 3, false, false}}) {
    const Floats left = Quarters(random, static_cast<size_t>(of.batches * of.rows * of.depth));
    const Floats right = Quarters(random, static_cast<size_t>(of.depth * of.columns));
    const Dims left_dims =
        of.swaps_left ? Dims{of.batches, of.depth, of.rows} : Dims{of.batches, of.rows, of.depth};
    const Dims right_dims =
        of.swaps_right ? Dims{of.columns, of.depth} : Dims{of.depth, of.columns};
    const void* inputs[] = {left.data(), right.data()};
    ExpectInPieces(
        BatchMatmulOp{.left_is_transposed = of.swaps_left, .right_is_transposed = of.swaps_right},
        {left_dims, right_dims}, inputs, Multiply(of, left, right));
  }
}

// Bits of value 1 are -1. The values on the left are s + 0.5, those on the right 2 t - 1.
Floats MultiplyBits(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right,
                    const Product& of, int words) {
  const auto sign = [&](const std::vector<uint32_t>& side, int row, int k) {
    const uint32_t word = side[static_cast<size_t>(row * words + k / 32)];
    return (word >> (k % 32) & 1) != 0 ? -1.0f : 1.0f;
  };
  Floats made;
  for (int row = 0; row < of.batches * of.rows; ++row) {
    for (int column = 0; column < of.columns; ++column) {
      const int right_row = row / of.rows * of.columns + column;
      float sum = 0;
      for (int k = 0; k < of.depth; ++k) {
        sum += (sign(left, row, k) + 0.5f) * (2 * sign(right, right_row, k) - 1);
      }
      made.push_back(sum);
    }
  }
  return made;
}

// There are more rows than a block has.
TEST(ProductSteps, MatricesOfBitsInPieces) {
  constexpr int kWords = 3;
  constexpr Product kOf = {.batches = 2, .rows = 150, .depth = 70, .columns = 21};
  Random random;
  std::vector<uint32_t> left = random.Words(static_cast<size_t>(kOf.batches * kOf.rows * kWords));
  std::vector<uint32_t> right =
      random.Words(static_cast<size_t>(kOf.batches * kOf.columns * kWords));
  for (std::vector<uint32_t>* side : {&left, &right}) {
    for (size_t i = kWords - 1; i < side->size(); i += kWords) {
      (*side)[i] &= (1u << (kOf.depth % 32)) - 1;  // bits behind the depth are 0
    }
  }
  const BmatmulOp op = {.spec = {.depth = kOf.depth,
                                 .of_dot = 2,
                                 .of_left = -1,
                                 .of_right = 1,
                                 .constant = -kOf.depth / 2}};
  const void* inputs[] = {left.data(), right.data()};
  ExpectInPieces(op, {{kOf.batches, kOf.rows, kWords}, {kOf.batches, kOf.columns, kWords}}, inputs,
                 MultiplyBits(left, right, kOf, kWords));
}

// Adds the products of each pixel of the input to the pixels of the output that its taps reach.
Floats Transposed(const TransposedConv2dOp& op, int images, const Floats& input) {
  const TransposedConv2dSpec& spec = op.spec;
  const auto [height, width] = spec.Over();
  Floats made;
  for (int64_t i = 0; i < images * spec.out_height * spec.out_width; ++i) {
    made.insert(made.end(), op.bias.begin(), op.bias.end());
  }
  size_t pixel = 0;
  for (int64_t image = 0; image < images; ++image) {
    for (int64_t y = 0; y < height.out; ++y) {
      for (int64_t x = 0; x < width.out; ++x, ++pixel) {
        for (int64_t tap = 0; tap < spec.window.taps(); ++tap) {
          const int64_t to_y = y * height.stride - height.pad_before + tap / width.taps;
          const int64_t to_x = x * width.stride - width.pad_before + tap % width.taps;
          if (to_y < 0 || to_y >= spec.out_height || to_x < 0 || to_x >= spec.out_width) continue;
          const int64_t to = (image * spec.out_height + to_y) * spec.out_width + to_x;
          for (int64_t c = 0; c < spec.out_channels; ++c) {
            for (int64_t k = 0; k < spec.in_channels; ++k) {
              made[static_cast<size_t>(to * spec.out_channels + c)] +=
                  input[pixel * static_cast<size_t>(spec.in_channels) + static_cast<size_t>(k)] *
                  op.filter.data()[(c * spec.window.taps() + tap) * spec.in_channels + k];
            }
          }
        }
      }
    }
  }
  for (float& value : made) value = Clamp(value, ActivationRange(op.activation));
  return made;
}

TEST(ProductSteps, TransposedConvolutionsInPieces) {
  Random random;
  for (int64_t taps : {1, 2, 3, 5}) {
    for (int64_t stride : {1, 2, 3}) {
      for (bool same : {false, true}) {
        const Window1d axis = {.taps = taps, .stride = stride, .padding = {.same = same}};
        TransposedConv2dSpec spec = {.in_channels = random.Int(1, 9),
                                     .out_channels = random.Int(1, 70),
                                     .window = {.height = axis, .width = {.taps = 2}},
                                     .out_height = (random.Int(1, 4) - 1) * stride + taps,
                                     .out_width = random.Int(2, 40)};
        const Floats filter =
            Quarters(random, static_cast<size_t>(spec.out_channels * spec.depth()));
        const TransposedConv2dOp op = {
            .spec = spec,
            .activation = Activation::kRelu,
            .filter = ConstantValues<float>(filter.data(), filter.size() * sizeof(float)),
            .bias = Quarters(random, static_cast<size_t>(spec.out_channels))};
        const WindowAxes window = spec.Over();
        const Dims dims = {2, static_cast<int>(window.height.out),
                           static_cast<int>(window.width.out), static_cast<int>(spec.in_channels)};
        const Floats input = Quarters(random, Count(dims));
        const void* data = input.data();
        ExpectInPieces(op, {dims}, {&data, 1}, Transposed(op, 2, input));
      }
    }
  }
}

TEST(ProductSteps, ImagesOfAnotherSizeInPieces) {
  const Op op = ResizeBilinearOp{.is_float = true,
                                 .height = 3,
                                 .width = 5,
                                 .aligns_corners = true,
                                 .has_pixel_centers = false};
  // A value is ten times its line plus its column, and so is what lies between.
  const Dims dims = {2, 2, 3, 1};
  const Floats input = {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112};
  Floats expected;
  for (float image : {0.0f, 100.0f}) {
    for (float y : {0.0f, 5.0f, 10.0f}) {
      for (float x : {0.0f, 0.5f, 1.0f, 1.5f, 2.0f}) expected.push_back(image + y + x);
    }
  }
  const void* data = input.data();
  ExpectInPieces(op, {dims}, {&data, 1}, expected);
}

TEST(ProductSteps, GatheredRowsInPieces) {
  const Dims data_dims = {2, 3, 2};
  const Floats data = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const int32_t indices[] = {2, 0, 1, 1};
  const void* inputs[] = {data.data(), indices};
  GatherOp op = {.form = GatherOp::kGather,
                 .element_bytes = sizeof(float),
                 .has_long_indices = false,
                 .axis = 1};
  ExpectInPieces(op, {data_dims, {4}}, inputs, {4, 5, 0, 1, 2, 3, 2, 3, 10, 11, 6, 7, 8, 9, 8, 9});
  op.batch_dims = 1;
  ExpectInPieces(op, {data_dims, {2, 2}}, inputs, {4, 5, 0, 1, 8, 9, 8, 9});
  const int32_t tuples[] = {1, 2, 0, 1};
  inputs[1] = tuples;
  ExpectInPieces(
      GatherOp{
          .form = GatherOp::kGatherNd, .element_bytes = sizeof(float), .has_long_indices = false},
      {data_dims, {2, 2}}, inputs, {10, 11, 2, 3});
}

TEST(ProductSteps, AnIndexThatDoesNotExistFailsOnce) {
  const Floats data = {1, 2, 3, 4};
  const int64_t indices[] = {1, int64_t{1} << 32};
  const void* inputs[] = {data.data(), indices};
  StepRunner runner(GatherOp{
      .form = GatherOp::kGather, .element_bytes = sizeof(float), .has_long_indices = true});
  runner.ResizeAll({{2, 2}, {2}});
  EXPECT_EQ(runner.RunAll(inputs, kWhole, kUntouched), (Floats{3, 4, 0, 0}));
  EXPECT_THROW(runner.step().CheckRun(), OpError);
  EXPECT_NO_THROW(runner.step().CheckRun());
}

}  // namespace
}  // namespace larq_engine
