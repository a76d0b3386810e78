// Tests the steps of PAD, RESHAPE and of CAST and DEQUANTIZE from bytes, which no CPU beside a host
// computes.
#include <cstdint>
#include <numeric>

#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/layout_ops.h"
#include "tests/runtime/cpu/step_runner.h"

namespace larq_engine {
namespace {

using testing::kPieceSizes;
using testing::PieceSize;
using testing::StepRunner;

size_t Count(const std::vector<int>& dims) {
  size_t count = 1;
  for (int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

// Finds the source of each output value by its indices.
std::vector<float> Padded(const std::vector<float>& in, const std::vector<int>& dims,
                          const PadOp& op, const std::vector<int>& out_dims) {
  std::vector<float> out(Count(out_dims), op.value);
  for (size_t at = 0; at < out.size(); ++at) {
    size_t rest = at, from = 0, step = 1;
    bool is_inside = true;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const int index = static_cast<int>(rest % static_cast<size_t>(out_dims[axis]));
      rest /= static_cast<size_t>(out_dims[axis]);
      const int source = index - op.pads[axis][0];
      is_inside = is_inside && source >= 0 && source < dims[axis];
      from += static_cast<size_t>(source) * step;
      step *= static_cast<size_t>(dims[axis]);
    }
    if (is_inside) out[at] = in[from];
  }
  return out;
}

void ExpectPadded(const PadOp& op, const std::vector<std::vector<int>>& shapes) {
  StepRunner runner(op);
  for (const std::vector<int>& dims : shapes) {
    const std::vector<int> out_dims = runner.Resize(dims);
    const std::vector<float> in = Numbers(Count(dims));
    for (const PieceSize& size : kPieceSizes) {
      EXPECT_EQ(runner.Run(in, size, -99.0f), Padded(in, dims, op, out_dims))
          << ::testing::PrintToString(dims) << " in pieces of " << size.pixels;
    }
  }
}

TEST(PadStep, OfAnyRank) {
  ExpectPadded({.pads = {{2, 3}}, .value = 0.5f}, {{4}, {1}, {7}});
  ExpectPadded({.pads = {{1, 0}, {0, 2}}}, {{3, 4}, {1, 1}});
  ExpectPadded({.pads = {{0, 0}, {1, 2}, {2, 1}}, .value = -1}, {{2, 3, 4}, {5, 1, 2}});
  ExpectPadded({.pads = {{0, 0}, {1, 1}, {1, 1}, {0, 0}}}, {{2, 5, 4, 3}, {1, 1, 1, 16}});
  ExpectPadded({.pads = {{1, 1}, {0, 1}, {2, 0}, {0, 3}, {1, 0}}}, {{2, 2, 3, 2, 2}});
  ExpectPadded({.pads = {{1, 0}, {0, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 1}}, .value = 7},
               {{2, 3, 1, 2, 2, 3}});
}

TEST(PadStep, OfEmptyTensors) {
  const PadOp op = {.pads = {{0, 1}, {2, 0}, {1, 1}}, .value = 3};
  ExpectPadded(op, {{0, 2, 3}, {2, 0, 3}, {2, 3, 0}, {0, 0, 0}, {2, 2, 2}});
  ExpectPadded({.pads = {{0, 0}, {0, 0}}}, {{0, 4}, {4, 0}, {2, 2}});
}

TEST(PadStep, OfChannelsFollowsOtherSteps) {
  const PadOp op = {.pads = {{0, 0}, {0, 0}, {0, 0}, {3, 5}}, .value = 2};
  ExpectPadded(op, {{2, 3, 4, 8}, {1, 2, 2, 1}, {1, 2, 2, 0}});
  EXPECT_TRUE(StepRunner(op).step().pixelwise());
  EXPECT_FALSE(StepRunner(PadOp{.pads = {{0, 0}, {1, 0}, {0, 0}, {3, 5}}}).step().pixelwise());
}

TEST(ReshapeStep, Copies) {
  struct Case {
    std::vector<int> target;
    std::vector<std::vector<int>> inputs;
  };
  for (const auto& [target, inputs] :
       {Case{{-1, 12}, {{2, 3, 4}, {5, 12}, {0, 12}, {1, 1, 1, 12}}},
        Case{{2, -1, 4}, {{2, 3, 4}, {8, 2}, {1, 4, 2, 4}, {2, 0, 4}}}, Case{{-1}, {{3, 5}, {7}}},
        Case{{1, 2, 3, 2, 1, 2}, {{24}, {4, 6}}}}) {
    const ReshapeOp op = {.dims = target, .element_bytes = 4};
    StepRunner runner(op);
    for (const std::vector<int>& dims : inputs) {
      const std::vector<int> out_dims = runner.Resize(dims);
      EXPECT_EQ(runner.step().pixelwise(), dims.back() == out_dims.back());
      const std::vector<float> in = Numbers(Count(dims));
      for (const PieceSize& size : kPieceSizes) {
        EXPECT_EQ(runner.Run(in, size, -99.0f), in) << ::testing::PrintToString(dims);
      }
    }
  }
}

TEST(ReshapeStep, CopiesBytes) {
  StepRunner runner(ReshapeOp{.dims = {3, -1}, .element_bytes = 1});
  runner.Resize({5, 3, 2});
  std::vector<int8_t> in(30);
  std::iota(in.begin(), in.end(), int8_t{-9});
  for (const PieceSize& size : kPieceSizes) EXPECT_EQ(runner.Run(in, size, int8_t{99}), in);
}

template <typename T>
void ExpectFloats(const BytesToFloatsOp& op) {
  StepRunner runner(op);
  for (const std::vector<int>& dims :
       std::vector<std::vector<int>>{{4, 8, 8}, {256}, {2, 16, 1, 3}, {0, 3}, {3, 0}}) {
    EXPECT_EQ(runner.Resize(dims), dims);
    std::vector<T> in(Count(dims));
    std::vector<float> expected;
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<T>(i);
      expected.push_back(static_cast<float>(in[i] - op.zero_point) * op.scale);
    }
    for (const PieceSize& size : kPieceSizes) EXPECT_EQ(runner.Run(in, size, -99.0f), expected);
  }
}

TEST(BytesToFloatsStep, ScalesBytes) {
  ExpectFloats<uint8_t>({.are_signed = false});
  ExpectFloats<int8_t>({.are_signed = true});
  ExpectFloats<uint8_t>({.are_signed = false, .zero_point = 128, .scale = 1.0f / 127});
  ExpectFloats<int8_t>({.are_signed = true, .zero_point = -128, .scale = 0.3f});
}

}  // namespace
}  // namespace larq_engine
