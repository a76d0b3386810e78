// Tests the epilogue that the host chooses, and the arguments that it makes for it.
#include "larq_engine/kernels/cuda/bconv2d_epilogues.h"

#include <initializer_list>
#include <limits>

#include "gtest/gtest.h"

namespace larq_engine::cuda {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

PixelProgram ProgramOf(std::initializer_list<PixelStep> steps) {
  PixelProgram program{};
  for (const PixelStep& step : steps) program.steps[program.count++] = step;
  return program;
}

PixelStep StepOf(PixelStep::Kind kind, float min = -kInfinity, float max = kInfinity) {
  static float values[2];
  return {kind, min, max, &values[0], &values[1]};
}

TEST(Bconv2dEpilogues, LimitsOfMoreBitsAreThoseOfDotProducts) {
  for (int32_t depth = 0; depth <= 6; ++depth) {
    for (int32_t ones = 0; ones <= depth; ++ones) {
      for (const int32_t limit : {kLeast, -7, -6, -5, -2, -1, 0, 1, 2, 5, 6, 7, 8, kMost}) {
        for (int32_t acc = 0; acc <= depth; ++acc) {
          EXPECT_EQ(acc - ones > ExcessLimit(depth, limit, ones), depth - 2 * acc < limit)
              << depth << " " << ones << " " << limit << " " << acc;
        }
      }
    }
  }
}

TEST(Bconv2dEpilogues, LimitsOfTheGreatestDepth) {
  constexpr int32_t kDepth = 1 << 30;
  for (const int32_t limit : {kLeast, -kDepth, -kDepth + 1, 0, kDepth, kDepth + 1, kMost}) {
    for (const int32_t ones : {0, kDepth}) {
      for (const int32_t acc : {0, 1, kDepth / 2, kDepth / 2 + 1, kDepth - 1, kDepth}) {
        EXPECT_EQ(acc - ones > ExcessLimit(kDepth, limit, ones), kDepth - 2 * int64_t{acc} < limit)
            << limit << " " << ones << " " << acc;
      }
    }
  }
}

TEST(Bconv2dEpilogues, StepsGoToTheirPlaces) {
  const std::optional<SumProgram> all = MakeSumProgram(ProgramOf({
      StepOf(PixelStep::kClamp, 0),
      StepOf(PixelStep::kMultiplyChannels),
      StepOf(PixelStep::kAddChannels, -1, 6),
      StepOf(PixelStep::kStore),
      StepOf(PixelStep::kAddTensor, -kInfinity, 6),
      StepOf(PixelStep::kStore),
  }));
  ASSERT_TRUE(all.has_value());
  EXPECT_TRUE(all->activation.clamps);
  EXPECT_EQ(all->activation.min, 0);
  EXPECT_EQ(all->activation.max, kInfinity);
  EXPECT_NE(all->product.values, nullptr);
  EXPECT_FALSE(all->product.range.clamps);
  EXPECT_NE(all->sum.values, nullptr);
  EXPECT_EQ(all->sum.range.min, -1);
  EXPECT_EQ(all->sum.range.max, 6);
  EXPECT_NE(all->sum_out, nullptr);
  EXPECT_NE(all->residual.values, nullptr);
  EXPECT_TRUE(all->residual.range.clamps);
  EXPECT_NE(all->out, nullptr);

  const std::optional<SumProgram> one = MakeSumProgram(ProgramOf({StepOf(PixelStep::kAddTensor)}));
  ASSERT_TRUE(one.has_value());
  EXPECT_FALSE(one->activation.clamps);
  EXPECT_EQ(one->product.values, nullptr);
  EXPECT_EQ(one->sum.values, nullptr);
  EXPECT_EQ(one->sum_out, nullptr);
  EXPECT_NE(one->residual.values, nullptr);
  EXPECT_EQ(one->out, nullptr);
}

TEST(Bconv2dEpilogues, AResidualThatTheLaunchStoresIsNoSum) {
  float y = 0;
  PixelStep store = StepOf(PixelStep::kStore);
  store.out = &y;
  PixelStep add = StepOf(PixelStep::kAddTensor);
  EXPECT_TRUE(MakeSumProgram(ProgramOf({store, add})).has_value());
  add.values = &y;
  EXPECT_FALSE(MakeSumProgram(ProgramOf({store, add})).has_value());
}

TEST(Bconv2dEpilogues, WhatHasNoPlaceIsNoSum) {
  for (const PixelProgram& program :
       {ProgramOf({StepOf(PixelStep::kPrelu)}), ProgramOf({StepOf(PixelStep::kMultiplyTensor)}),
        ProgramOf({StepOf(PixelStep::kAddTensor), StepOf(PixelStep::kClamp, 0)}),
        ProgramOf({StepOf(PixelStep::kAddChannels), StepOf(PixelStep::kMultiplyChannels)}),
        ProgramOf({StepOf(PixelStep::kAddTensor), StepOf(PixelStep::kAddTensor)}),
        ProgramOf(
            {StepOf(PixelStep::kStore), StepOf(PixelStep::kStore), StepOf(PixelStep::kStore)})}) {
    EXPECT_FALSE(MakeSumProgram(program).has_value()) << program.steps[0].kind;
  }
}

TEST(Bconv2dEpilogues, TheShortestIsChosen) {
  const int32_t corner_ones = 0;
  uint32_t bits = 0;
  Bconv2dArgs a{};
  const auto chosen = [&] { return WithEpilogue(a).output.epilogue; };

  a.output.kind = Bconv2dOutput::kBits;
  EXPECT_EQ(chosen(), Bconv2dOutput::kThreshold);
  a.corner_ones = &corner_ones;
  EXPECT_EQ(chosen(), Bconv2dOutput::kAny);

  a.output.kind = Bconv2dOutput::kInt8;
  EXPECT_EQ(chosen(), Bconv2dOutput::kAny);

  a.output.kind = Bconv2dOutput::kFloat;
  a.output.after = ProgramOf({StepOf(PixelStep::kStore)});
  EXPECT_EQ(chosen(), Bconv2dOutput::kStore);
  a.output.after.bits = &bits;
  EXPECT_EQ(chosen(), Bconv2dOutput::kSum);
  EXPECT_NE(WithEpilogue(a).output.sum.sum_out, nullptr);
  a.output.after.planes = 2;
  EXPECT_EQ(chosen(), Bconv2dOutput::kAny);
  a.output.after = ProgramOf({StepOf(PixelStep::kPrelu), StepOf(PixelStep::kStore)});
  EXPECT_EQ(chosen(), Bconv2dOutput::kAny);
}

}  // namespace
}  // namespace larq_engine::cuda
