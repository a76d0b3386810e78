// Tests where outputs are placed: first the kinds by example, then random plans that are run with
// marks in place of values.
#include "larq_engine/runtime/cpu/tile_memory.h"

#include <algorithm>
#include <map>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/cpu/fusion.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::Random;

constexpr size_t kPixels = 20;  // enough to be fused
constexpr int64_t kTilePixels = 4;

constexpr size_t kItself = SIZE_MAX;  // the step has an output of its own

// The segment's description of a step, and whether it can follow other steps on a tile.
struct TestStep : TileMemoryStep {
  bool pixelwise;
};

// Makes a step with one value of `bytes` for each pixel.
TestStep Step(const std::vector<int>& producers, bool pixelwise, bool in_place = false,
              bool is_shared = false, size_t pixel_bytes = 64) {
  return {{.producers = producers,
           .output = kItself,
           .bytes = kPixels * pixel_bytes,
           .pixel_bytes = pixel_bytes,
           .is_shared = is_shared,
           .in_place = in_place,
           .whole_producers = pixelwise ? std::vector<int>() : producers},
          pixelwise};
}

struct Plan {
  std::vector<TestStep> steps;
  std::vector<std::vector<size_t>> groups;
  TileMemory memory;
};

Plan Planned(std::vector<TestStep> steps) {
  Plan plan{.steps = std::move(steps), .groups = {}, .memory = {}};
  std::vector<FusionStep> fusion;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    TestStep& step = plan.steps[i];
    if (step.output == kItself) step.output = i;
    fusion.push_back({.producers = step.producers,
                      .pixels = static_cast<int64_t>(kPixels),
                      .pixelwise = step.pixelwise,
                      .whole_producers = step.whole_producers});
  }
  plan.groups = GroupSteps(fusion, true);
  const std::vector<int64_t> tile_pixels(plan.groups.size(), kTilePixels);
  const std::vector<TileMemoryStep> described(plan.steps.begin(), plan.steps.end());
  plan.memory = PlaceOutputs(described, plan.groups, tile_pixels);
  return plan;
}

// Makes the body of a residual network: convolutions, each followed by the sum with the shortcut.
std::vector<TestStep> Residual() {
  return {Step({-1}, false),                // 0: convolution
          Step({0, -1}, true, true),        // 1: its sum with the host's shortcut
          Step({1}, true),                  // its bits
          Step({2}, false),                 // 3: convolution
          Step({3, 1}, true, true),         // 4: sum
          Step({4}, true),                  // 5: bits
          Step({5}, false),                 // 6: convolution
          Step({6, 4}, true, true, true)};  // 7: sum, for the host
}

TEST(PlaceOutputs, TilesForTheGroupBlockForLaterHostForOthers) {
  const Plan plan = Planned(Residual());
  const std::vector<PlaceKind> expected = {PlaceKind::kTile, PlaceKind::kArena, PlaceKind::kArena,
                                           PlaceKind::kTile, PlaceKind::kArena, PlaceKind::kArena,
                                           PlaceKind::kTile, PlaceKind::kShared};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(plan.memory.outputs[i].kind, expected[i]) << i;
  }
  EXPECT_EQ(plan.memory.tile_bytes, static_cast<size_t>(kTilePixels) * 64);
}

TEST(PlaceOutputs, SumsTakeTheShortcutsPlace) {
  const Plan plan = Planned(Residual());
  EXPECT_EQ(plan.memory.outputs[4].offset, plan.memory.outputs[1].offset);
}

TEST(PlaceOutputs, NotWhileAConvolutionReadsTheShortcut) {
  std::vector<TestStep> steps = Residual();
  steps[3] = Step({1}, false);  // reads other pixels of what the sum would overwrite
  const Plan plan = Planned(steps);
  EXPECT_NE(plan.memory.outputs[4].offset, plan.memory.outputs[1].offset);
}

// The convolution reads the bits of step 2 anywhere, but of the shortcut only its own pixel.
TEST(PlaceOutputs, ConvolutionsThatAddTheShortcutTakeItsPlace) {
  std::vector<TestStep> steps = {Step({-1}, true), Step({-1}, false), Step({1}, true),
                                 Step({2, 1}, false, true), Step({3}, true, false, true)};
  steps[3].whole_producers = {2};
  const Plan plan = Planned(steps);
  EXPECT_EQ(plan.memory.outputs[3].offset, plan.memory.outputs[1].offset);
  EXPECT_NE(plan.memory.outputs[3].offset, plan.memory.outputs[2].offset);
}

TEST(PlaceOutputs, NotWhileAStepReadsAllOfTheShortcut) {
  std::vector<TestStep> steps = Residual();
  steps[4].whole_producers = {1};
  const Plan plan = Planned(steps);
  EXPECT_NE(plan.memory.outputs[4].offset, plan.memory.outputs[1].offset);
}

TEST(PlaceOutputs, NotWhileALaterStepOfTheGroupReadsTheShortcut) {
  std::vector<TestStep> steps = Residual();
  steps[5].producers = {4, 1};
  const Plan plan = Planned(steps);
  EXPECT_NE(plan.memory.outputs[4].offset, plan.memory.outputs[1].offset);
}

TEST(PlaceOutputs, NotWhileALaterGroupReadsTheShortcut) {
  std::vector<TestStep> steps = Residual();
  steps[7].producers = {6, 4, 1};
  const Plan plan = Planned(steps);
  EXPECT_NE(plan.memory.outputs[4].offset, plan.memory.outputs[1].offset);
}

TEST(PlaceOutputs, NotWhereTheSizeDiffers) {
  std::vector<TestStep> steps = Residual();
  steps[1].pixel_bytes /= 2;
  steps[1].bytes /= 2;
  const Plan plan = Planned(steps);
  EXPECT_NE(plan.memory.outputs[4].offset, plan.memory.outputs[1].offset);
}

// Makes two steps, each with an output of its own so far, produce the halves of one output.
void JoinOutputs(std::vector<TestStep>& steps, size_t first, size_t second) {
  steps[second].output = first;
  steps[second].in_place = steps[first].in_place = false;
}

TEST(PlaceOutputs, PartsOfAnOutputShareItsPlaceUntilTheLastReader) {
  std::vector<TestStep> steps = {Step({-1}, false),    // 0: convolution
                                 Step({0}, true),      // half of all bits
                                 Step({0}, false),     // 2: convolution
                                 Step({2}, true),      // 3: the other half
                                 Step({1, 3}, false),  // 4: convolution
                                 Step({4}, true, false, true)};
  JoinOutputs(steps, 1, 3);
  const Plan plan = Planned(steps);
  EXPECT_EQ(plan.memory.outputs[1].kind, PlaceKind::kArena);
  EXPECT_EQ(plan.memory.outputs[3].kind, PlaceKind::kArena);
  EXPECT_EQ(plan.memory.outputs[3].offset, plan.memory.outputs[1].offset);
}

TEST(PlaceOutputs, PartsThatOneGroupMakesAndReadsAreOfATile) {
  std::vector<TestStep> steps = {Step({-1}, false), Step({0}, true), Step({0}, true),
                                 Step({1, 2}, true, false, true)};
  JoinOutputs(steps, 1, 2);
  const Plan plan = Planned(steps);
  EXPECT_EQ(plan.memory.outputs[1].kind, PlaceKind::kTile);
  EXPECT_EQ(plan.memory.outputs[2].offset, plan.memory.outputs[1].offset);
}

// A mark in memory: every byte says which step's and which pixel's value it holds.
struct Mark {
  size_t step;
  size_t pixel;
  bool operator==(const Mark&) const = default;
};

class Memory {
 public:
  explicit Memory(const Plan& plan) : plan_(plan) {}

  void Write(size_t step, size_t pixel, size_t tile_begin) {
    for (size_t at : Bytes(step, pixel, tile_begin)) space(step)[at] = {step, pixel};
  }
  ::testing::AssertionResult Holds(size_t step, size_t pixel, size_t tile_begin) {
    for (size_t at : Bytes(step, pixel, tile_begin)) {
      if (!(space(step)[at] == Mark{step, pixel})) {
        return ::testing::AssertionFailure()
               << "pixel " << pixel << " of step " << step << " is gone";
      }
    }
    return ::testing::AssertionSuccess();
  }

 private:
  std::map<size_t, Mark>& space(size_t step) {
    const PlaceKind kind = plan_.memory.outputs[step].kind;
    return kind == PlaceKind::kShared  ? host_[plan_.steps[step].output]
           : kind == PlaceKind::kArena ? block_
                                       : tile_;
  }
  std::vector<size_t> Bytes(size_t step, size_t pixel, size_t tile_begin) const {
    const OutputPlace& place = plan_.memory.outputs[step];
    const size_t first = place.kind == PlaceKind::kTile ? pixel - tile_begin : pixel;
    std::vector<size_t> bytes;
    const size_t size = plan_.steps[step].pixel_bytes;
    const auto [part, parts] = Part(step);
    for (size_t b = size * part / parts; b < size * (part + 1) / parts; ++b) {
      bytes.push_back(place.offset + first * size + b);
    }
    const size_t end = place.kind == PlaceKind::kTile    ? plan_.memory.tile_bytes
                       : place.kind == PlaceKind::kArena ? plan_.memory.arena_bytes
                                                         : SIZE_MAX;
    EXPECT_LE(bytes.back(), end - 1);
    return bytes;
  }

  // Returns the step's number among those that make its output, and how many these are.
  std::pair<size_t, size_t> Part(size_t step) const {
    std::pair<size_t, size_t> found = {0, 0};
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].output != plan_.steps[step].output) continue;
      if (i == step) found.first = found.second;
      ++found.second;
    }
    return found;
  }

  const Plan& plan_;
  std::map<size_t, std::map<size_t, Mark>> host_;
  std::map<size_t, Mark> block_, tile_;
};

// Checks that every step finds what its producers made, whatever was written in between.
void ExpectNothingIsLost(const Plan& plan) {
  Memory memory(plan);
  for (const std::vector<size_t>& group : plan.groups) {
    for (size_t begin = 0; begin < kPixels; begin += kTilePixels) {
      const size_t end = std::min<size_t>(begin + kTilePixels, kPixels);
      for (size_t step : group) {
        const TileMemoryStep& s = plan.steps[step];
        for (int producer : s.producers) {
          if (producer < 0) continue;
          const bool whole = std::ranges::count(s.whole_producers, producer) > 0;
          const size_t first = whole ? 0 : begin, last = whole ? kPixels : end;
          for (size_t pixel = first; pixel < last; ++pixel) {
            ASSERT_TRUE(memory.Holds(static_cast<size_t>(producer), pixel, begin))
                << "for step " << step;
          }
        }
        for (size_t pixel = begin; pixel < end; ++pixel) memory.Write(step, pixel, begin);
      }
    }
  }
}

// Each tile fits memory, but not all of them. If their sum wrapped, it would be a size that memory
// can hold.
TEST(PlaceOutputs, TilesThatMemoryCannotHoldAreRefused) {
  constexpr size_t kPixelBytes = kMaxMemory / kPixels / 8 * 8;
  for (int pixelwise : {6, 12, 24}) {
    std::vector<TestStep> steps = {Step({-1}, false, false, false, kPixelBytes)};
    for (int i = 0; i < pixelwise; ++i) {
      steps.push_back(Step({i}, true, false, i + 1 == pixelwise, kPixelBytes));
    }
    EXPECT_THROW(Planned(std::move(steps)), std::bad_alloc) << pixelwise;
  }
}

TEST(PlaceOutputs, NothingIsLost) {
  SCOPED_TRACE(testing::ReplayHint());
  ASSERT_NO_FATAL_FAILURE(ExpectNothingIsLost(Planned(Residual())));
  Random random;
  for (int round = 0; round < 400; ++round) {
    std::vector<TestStep> steps;
    const int count = static_cast<int>(random.Int(1, 14));
    for (int i = 0; i < count; ++i) {
      std::vector<int> producers;
      for (int64_t k = random.Int(1, 3); k > 0; --k) {
        const int producer = static_cast<int>(random.Int(std::max(-1, i - 5), i - 1));
        producers.push_back(producer);
        // Adds all steps that make another part of the value that is read.
        for (int other = 0; producer >= 0 && other < i; ++other) {
          const auto output = [&](int step) { return steps[static_cast<size_t>(step)].output; };
          if (other != producer && output(other) == output(producer)) producers.push_back(other);
        }
      }
      const bool pixelwise = random.Int(0, 3) > 0;
      steps.push_back(Step(producers, pixelwise, pixelwise && random.Int(0, 2) > 0,
                           random.Int(0, 7) == 0, random.Int(0, 3) > 0 ? 64 : 32));
      steps.back().output = static_cast<size_t>(i);
      // A convolution that adds may overwrite the value that it adds.
      const bool adds = !pixelwise && random.Int(0, 1) == 0;
      if (adds) {
        steps.back().in_place = random.Int(0, 2) > 0;
        steps.back().whole_producers.clear();
      }
      if ((adds || (pixelwise && random.Int(0, 3) == 0)) && producers[0] >= 0) {
        const auto output = [&](int step) { return steps[static_cast<size_t>(step)].output; };
        for (int producer : producers) {
          if (producer < 0 || output(producer) != output(producers[0])) continue;
          steps.back().whole_producers.push_back(producer);
        }
      }
      if (i == 0 || random.Int(0, 2) > 0) continue;
      // The step before and this one make one output together, if nobody has read it yet.
      TestStep& before = steps[static_cast<size_t>(i - 1)];
      const bool reads = std::find(producers.begin(), producers.end(), i - 1) != producers.end();
      if (reads || before.bytes != steps.back().bytes) continue;
      steps.back().is_shared = before.is_shared;
      steps.back().in_place = before.in_place = false;
      steps.back().output = before.output;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectNothingIsLost(Planned(steps))) << "round " << round;
  }
}

}  // namespace
}  // namespace larq_engine
