// Tests the steps that make each value by itself, in pieces of any size: functions, functions of
// broadcast operands, and indices of the greatest values.
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/runtime/cpu/step_runner.h"

namespace larq_engine {
namespace {

using testing::kPieceSizes;
using testing::PieceSize;
using testing::StepRunner;
using Dims = std::vector<int>;

size_t Count(const Dims& dims) {
  size_t count = 1;
  for (int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

std::vector<float> Numbers(size_t count, float first, float step) {
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(first + step * static_cast<float>(i));
  return numbers;
}

// Returns the index of an operand's value for one of the result.
size_t Source(size_t at, const Dims& result, const Dims& dims) {
  size_t from = 0, step = 1;
  for (size_t from_last = 0; from_last < dims.size(); ++from_last) {
    const auto size = static_cast<size_t>(result[result.size() - 1 - from_last]);
    const auto own = static_cast<size_t>(dims[dims.size() - 1 - from_last]);
    if (own > 1) from += at % size * step;
    step *= own;
    at /= size;
  }
  return from;
}

// Returns the result, which is computed in pieces, the last ones first.
std::vector<float> RunInPieces(const Step& step, const std::vector<const void*>& inputs,
                               const std::vector<size_t>& input_bytes, size_t values,
                               PieceSize size) {
  std::vector<float> output(values, -99.0f);
  const int64_t pixels = step.pixels(), blocks = step.blocks();
  for (int64_t last = pixels; last > 0; last -= std::min(last, size.pixels)) {
    const int64_t first = std::max<int64_t>(last - size.pixels, 0);
    const size_t before = values / static_cast<size_t>(pixels) * static_cast<size_t>(first);
    std::vector<const void*> places;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t pixel_bytes =
          step.reads_whole(i) ? 0 : input_bytes[i] / static_cast<size_t>(pixels);
      places.push_back(static_cast<const std::byte*>(inputs[i]) +
                       pixel_bytes * static_cast<size_t>(first));
    }
    for (int64_t end = blocks; end > 0; end -= std::min(end, size.blocks)) {
      step.Run(places, {first, last, std::max<int64_t>(end - size.blocks, 0), end}, nullptr,
               output.data() + before);
    }
  }
  return output;
}

const std::vector<Dims> kOperands[] = {
    {{}, {}, {}},
    {{5000}, {5000}, {1}},
    {{3, 2100}, {3, 2100}, {3, 2100}},
    {{3, 2100}, {2100}, {1, 1}},
    {{3, 7}, {3, 1}, {1, 7}},
    {{2, 3, 4, 5}, {2, 1, 1, 5}, {5}},
    {{2, 1, 4, 1}, {3, 1, 5}, {2, 3, 4, 5}},
    {{0, 4}, {4}, {1, 1}},
};

std::unique_ptr<Step> Sized(const Op& op, std::span<const Dims> operands, TensorShape& output) {
  std::vector<TensorShape> inputs;
  for (const Dims& dims : operands) inputs.push_back({.dims = dims});
  output = OutputShape(op, inputs);
  auto step = MakeStep(
      op, {.kernel = std::string(kAutoKernel), .pixel_ops = SelectPixelOps(DetectCpuFeatures())});
  step->Resize(inputs, output);
  return step;
}

TEST(ValueSteps, PairsAreBroadcastInPieces) {
  const Op op = PairOp{
      .function = PairFunction::kSub, .type = ValueType::kFloat32, .activation = Activation::kNone};
  for (const std::vector<Dims>& shapes : kOperands) {
    const std::span<const Dims> operands(shapes.data(), 2);
    TensorShape output;
    const auto step = Sized(op, operands, output);
    const auto a = Numbers(Count(shapes[0]), 1, 1), b = Numbers(Count(shapes[1]), 0.5f, 1);
    std::vector<float> expected;
    for (size_t i = 0; i < Count(output.dims); ++i) {
      expected.push_back(a[Source(i, output.dims, shapes[0])] -
                         b[Source(i, output.dims, shapes[1])]);
    }
    for (const PieceSize& size : kPieceSizes) {
      EXPECT_EQ(
          RunInPieces(*step, {a.data(), b.data()},
                      {a.size() * sizeof(float), b.size() * sizeof(float)}, expected.size(), size),
          expected)
          << ::testing::PrintToString(shapes) << " in pieces of " << size.pixels;
    }
  }
}

TEST(ValueSteps, SelectionsAreBroadcastInPieces) {
  const Op op = SelectOp{.form = SelectOp::kSelectV2, .value_bytes = sizeof(float)};
  for (const std::vector<Dims>& shapes : kOperands) {
    TensorShape output;
    const auto step = Sized(op, shapes, output);
    std::vector<uint8_t> condition;
    for (size_t i = 0; i < Count(shapes[0]); ++i) condition.push_back(i % 3 == 0);
    const auto a = Numbers(Count(shapes[1]), 1, 1), b = Numbers(Count(shapes[2]), -1, -1);
    std::vector<float> expected;
    for (size_t i = 0; i < Count(output.dims); ++i) {
      expected.push_back(condition[Source(i, output.dims, shapes[0])] != 0
                             ? a[Source(i, output.dims, shapes[1])]
                             : b[Source(i, output.dims, shapes[2])]);
    }
    for (const PieceSize& size : kPieceSizes) {
      EXPECT_EQ(RunInPieces(*step, {condition.data(), a.data(), b.data()},
                            {condition.size(), a.size() * sizeof(float), b.size() * sizeof(float)},
                            expected.size(), size),
                expected)
          << ::testing::PrintToString(shapes) << " in pieces of " << size.pixels;
    }
  }
}

TEST(ValueSteps, FunctionsInPieces) {
  StepRunner runner(
      FunctionOp{.function = ValueFunction::kNeg, .type = ValueType::kFloat32, .alpha = 0});
  for (const Dims& dims : {Dims{}, Dims{5000}, Dims{3, 2100}, Dims{2, 3, 5}, Dims{0, 3}}) {
    runner.Resize(dims);
    const auto in = Numbers(Count(dims), 1, 1);
    for (const PieceSize& size : kPieceSizes) {
      EXPECT_EQ(runner.Run(in, size, -99.0f), Numbers(Count(dims), -1, -1))
          << ::testing::PrintToString(dims) << " in pieces of " << size.pixels;
    }
  }
}

TEST(ValueSteps, IndicesInPieces) {
  StepRunner runner(ArgMaxOp{.form = ArgMaxOp::kArgMax,
                             .type = ValueType::kFloat32,
                             .index_type = ValueType::kInt32,
                             .axis = -2});
  runner.Resize({2, 3, 4});
  std::vector<float> in(24);
  const std::vector<int32_t> expected = {0, 1, 2, 0, 2, 1, 0, 2};
  for (size_t i = 0; i < expected.size(); ++i) {
    in[i / 4 * 12 + static_cast<size_t>(expected[i]) * 4 + i % 4] = 1;
  }
  for (const PieceSize& size : kPieceSizes) EXPECT_EQ(runner.Run(in, size, -99), expected);
}

}  // namespace
}  // namespace larq_engine
