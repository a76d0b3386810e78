#include "larq_engine/runtime/cpu/fusion.h"

#include <algorithm>
#include <limits>

#include "gtest/gtest.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::Random;
using testing::ReplayHint;

using Groups = std::vector<std::vector<size_t>>;

constexpr int kHost = -1;
constexpr int64_t kMinFusedPixels = 16;

// Window makes a step that reads its input anywhere, as a convolution does; Pixelwise one that
// reads its own pixel.
FusionStep Window(std::vector<int> producers, int64_t pixels = 100) {
  return {.producers = std::move(producers), .pixels = pixels, .pixelwise = false};
}
FusionStep Pixelwise(std::vector<int> producers, int64_t pixels = 100) {
  return {.producers = std::move(producers), .pixels = pixels, .pixelwise = true};
}

Groups Fused(const std::vector<FusionStep>& steps) { return GroupSteps(steps, true); }

TEST(GroupSteps, PixelwiseStepsJoinTheirProducer) {
  EXPECT_EQ(Fused({Window({kHost}), Pixelwise({0}), Pixelwise({1, kHost})}), (Groups{{0, 1, 2}}));
}

TEST(GroupSteps, WithoutFusingEveryStepIsAlone) {
  const std::vector<FusionStep> steps = {Window({kHost}), Pixelwise({0}), Pixelwise({1})};
  EXPECT_EQ(GroupSteps(steps, false), (Groups{{0}, {1}, {2}}));
}

TEST(GroupSteps, NoSteps) { EXPECT_EQ(Fused({}), Groups{}); }

TEST(GroupSteps, AStepThatReadsElsewhereBeginsAGroup) {
  EXPECT_EQ(Fused({Pixelwise({kHost}), Window({0}), Pixelwise({1})}), (Groups{{0}, {1, 2}}));
}

TEST(GroupSteps, AStepOfTheHostsTensorsOnlyBeginsAGroup) {
  EXPECT_EQ(Fused({Window({kHost}), Pixelwise({kHost, kHost})}), (Groups{{0}, {1}}));
}

TEST(GroupSteps, OtherPixelsDoNotJoin) {
  EXPECT_EQ(Fused({Window({kHost}, 100), Pixelwise({0}, 99)}), (Groups{{0}, {1}}));
}

TEST(GroupSteps, FewPixelsDoNotJoin) {
  const auto groups = [](int64_t pixels) {
    return Fused({Window({kHost}, pixels), Pixelwise({0}, pixels)}).size();
  };
  EXPECT_EQ(groups(0), 2u);
  EXPECT_EQ(groups(kMinFusedPixels - 1), 2u);
  EXPECT_EQ(groups(kMinFusedPixels), 1u);
}

// Step 3 reads from both groups. The earlier group is complete by then.
TEST(GroupSteps, OfSeveralProducersTheLatestGroupIsJoined) {
  EXPECT_EQ(Fused({Window({kHost}), Pixelwise({0}), Window({1}), Pixelwise({2, 1})}),
            (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(Fused({Window({kHost}), Pixelwise({0}), Window({1}), Pixelwise({1, 2})}),
            (Groups{{0, 1}, {2, 3}}));
}

// The step joins neither the later group, which has other pixels, nor the earlier one, which has
// the same: there it would run too soon.
TEST(GroupSteps, NothingJoinsBeforeWhatItReads) {
  EXPECT_EQ(Fused({Window({kHost}, 100), Window({0}, 50), Pixelwise({0, 1}, 100)}),
            (Groups{{0}, {1}, {2}}));
}

// A value that is read whole, such as a gate, must be made by an earlier group.
TEST(GroupSteps, WhatIsReadWholeIsMadeBefore) {
  FusionStep product = Pixelwise({1, 0});
  product.whole_producers = {0};
  EXPECT_EQ(Fused({Window({kHost}, 1), Window({kHost}), product}), (Groups{{0}, {1, 2}}));
  product.producers = {0, 1};
  product.whole_producers = {1};
  EXPECT_EQ(Fused({Window({kHost}), Window({kHost}, 1), product}), (Groups{{0}, {1}, {2}}));
  product.whole_producers = {0};
  product.producers = {0, 0};
  EXPECT_EQ(Fused({Window({kHost}), product}), (Groups{{0}, {1}}));
}

// The convolution adds the output of step 1, of which it reads only its own pixel.
TEST(GroupSteps, AConvolutionBeginsAGroupWhateverItAdds) {
  FusionStep adding = Window({1, 0});
  adding.whole_producers = {1};
  EXPECT_EQ(Fused({Window({kHost}), Pixelwise({0}), adding, Pixelwise({2})}),
            (Groups{{0, 1}, {2, 3}}));
}

// A step may run earlier than its place in the order, with the group that it belongs to.
TEST(GroupSteps, AStepMayJoinAGroupThatIsNotTheLast) {
  EXPECT_EQ(Fused({Window({kHost}), Window({0}), Pixelwise({0}), Pixelwise({1})}),
            (Groups{{0, 2}, {1, 3}}));
}

std::vector<FusionStep> RandomSteps(Random* random) {
  std::vector<FusionStep> steps(static_cast<size_t>(random->Int(0, 20)));
  for (size_t i = 0; i < steps.size(); ++i) {
    FusionStep& step = steps[i];
    for (int64_t n = random->Int(1, 3); n > 0; --n) {
      // Recent steps are read more often than far ones.
      const int64_t nearest = static_cast<int64_t>(i) - 1;
      const int64_t farthest = random->Int(0, 1) == 0 ? -1 : std::max<int64_t>(-1, nearest - 3);
      step.producers.push_back(static_cast<int>(random->Int(farthest, nearest)));
    }
    step.pixelwise = random->Int(0, 3) != 0;
    const int64_t sizes[] = {0, 15, 16, 100};
    const int first = step.producers[0];
    step.pixels = first >= 0 && random->Int(0, 3) != 0 ? steps[static_cast<size_t>(first)].pixels
                                                       : sizes[random->Int(0, 3)];
  }
  return steps;
}

// Checks the properties that a plan relies on, for random steps.
TEST(GroupSteps, GroupsCanRunInTheirOrder) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  int joined = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<FusionStep> steps = RandomSteps(&random);
    const Groups groups = GroupSteps(steps, true);
    constexpr size_t kNone = std::numeric_limits<size_t>::max();
    std::vector<size_t> group_of(steps.size(), kNone), place_in(steps.size());
    size_t members = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      ASSERT_FALSE(groups[g].empty());
      members += groups[g].size();
      for (size_t at = 0; at < groups[g].size(); ++at) {
        const size_t step = groups[g][at];
        ASSERT_LT(step, steps.size());
        ASSERT_EQ(group_of[step], kNone) << "step " << step << " is in two groups";
        group_of[step] = g;
        place_in[step] = at;
      }
    }
    ASSERT_EQ(members, steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      for (int producer : steps[i].producers) {
        if (producer < 0) continue;
        const size_t p = static_cast<size_t>(producer);
        ASSERT_LE(group_of[p], group_of[i]);
        if (group_of[p] == group_of[i]) {
          ASSERT_LT(place_in[p], place_in[i]);
        }
      }
      if (place_in[i] == 0) continue;
      ++joined;
      ASSERT_TRUE(steps[i].pixelwise);
      ASSERT_GE(steps[i].pixels, kMinFusedPixels);
      ASSERT_EQ(steps[i].pixels, steps[groups[group_of[i]][0]].pixels);
      ASSERT_TRUE(std::any_of(
          steps[i].producers.begin(), steps[i].producers.end(),
          [&](int p) { return p >= 0 && group_of[static_cast<size_t>(p)] == group_of[i]; }))
          << "step " << i << " has nothing to do with its group";
    }
  }
  EXPECT_GT(joined, 1000);
}

constexpr KernelPixels kKernel = {.tile = 6}, kKernelOfPairs = {.tile = 6, .step = 2};

struct Cut {
  int64_t pixels;
  size_t pixel_bytes;
  int64_t step_blocks;
  int threads;
  Tiling tiling;
};

void AddCuts(int64_t pixels, size_t pixel_bytes, int64_t step_blocks, int threads,
             std::vector<Cut>& cuts) {
  for (const KernelPixels kernel : {kKernel, kKernelOfPairs}) {
    cuts.push_back({pixels, pixel_bytes, step_blocks, threads,
                    CutWork(pixels, pixel_bytes, kernel, step_blocks, threads)});
  }
}

void ExpectEveryPixelOnce(const Cut& cut) {
  const EvenParts& parts = cut.tiling.tiles;
  const int64_t tiles = parts.parts;
  ASSERT_EQ(parts.Begin(0), 0);
  ASSERT_EQ(parts.Begin(tiles), cut.pixels);
  int64_t largest = 0, smallest = cut.pixels;
  const auto look_at = [&](int64_t tile) {
    const int64_t begin = parts.Begin(tile);
    const int64_t size = parts.Begin(tile + 1) - begin;
    ASSERT_GE(begin, 0);
    ASSERT_GT(size, 0) << "tile " << tile;
    ASSERT_TRUE(size % parts.step == 0 || tile == tiles - 1) << "tile " << tile;
    largest = std::max(largest, size);
    smallest = std::min(smallest, size);
  };
  // Among billions of tiles, looks at both ends and at some between.
  constexpr int64_t kLooks = 3000;
  for (int64_t tile = 0; tile < std::min(tiles, kLooks); ++tile) look_at(tile);
  for (int64_t tile = std::max<int64_t>(0, tiles - kLooks); tile < tiles; ++tile) look_at(tile);
  for (int64_t i = 0; i < kLooks && tiles > 2 * kLooks; ++i) look_at(tiles / kLooks * i);
  EXPECT_EQ(largest, parts.Most());
  // A tile may have one step more than another, and the last may lack a part of a step.
  EXPECT_LT(largest - smallest, 2 * parts.step);
}

constexpr int64_t kHuge = int64_t{1} << 40;

std::vector<Cut> ManyCuts() {
  std::vector<Cut> cuts;
  Random random;
  for (int64_t pixels :
       {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{8}, int64_t{9}, int64_t{16}, int64_t{49},
        int64_t{196}, int64_t{3136}, int64_t{12544}, kHuge - 1, kHuge, kHuge + 1}) {
    for (size_t pixel_bytes : {0, 4, 256, 1 << 10, 1 << 20}) {
      for (int threads : {1, 2, 3, 8, 256}) {
        AddCuts(pixels, pixel_bytes, random.Int(1, 64), threads, cuts);
      }
    }
  }
  for (int i = 0; i < 500; ++i) {
    AddCuts(random.Int(1, int64_t{1} << random.Int(1, 20)),
            static_cast<size_t>(random.Int(0, 1 << 14)), random.Int(1, 64),
            static_cast<int>(random.Int(1, 64)), cuts);
  }
  return cuts;
}

std::string Describe(const Cut& cut) {
  return std::to_string(cut.pixels) + " pixels of " + std::to_string(cut.pixel_bytes) + " bytes, " +
         std::to_string(cut.step_blocks) + " blocks, " + std::to_string(cut.tiling.tiles.step) +
         " at a time, " + std::to_string(cut.threads) +
         " threads: " + std::to_string(cut.tiling.tiles.parts) + " tiles, " +
         std::to_string(cut.tiling.blocks) + " blocks";
}

TEST(CutWork, NoPixelsAreNoWork) {
  for (int threads : {1, 2, 8}) {
    const Tiling tiling = CutWork(0, 1024, kKernel, 8, threads);
    EXPECT_EQ(tiling.units(), 0);
    EXPECT_EQ(tiling.tiles.Most(), 0);
  }
}

TEST(CutWork, TilesHoldEveryPixelOnce) {
  SCOPED_TRACE(ReplayHint());
  for (const Cut& cut : ManyCuts()) {
    SCOPED_TRACE(Describe(cut));
    ExpectEveryPixelOnce(cut);
  }
}

TEST(CutWork, TilesFitTheCacheAndWasteNoRows) {
  SCOPED_TRACE(ReplayHint());
  constexpr int64_t kCacheBytes = 64 * 1024, kSharedCacheBytes = 16 * 1024;
  constexpr int64_t kFewest = kKernel.tile, kMost = 256;
  for (const Cut& cut : ManyCuts()) {
    SCOPED_TRACE(Describe(cut));
    const int64_t largest = cut.tiling.tiles.Most();
    EXPECT_LE(largest, kMost);
    // Tiles exceed the cache only if fewer pixels would waste rows of kernels.
    if (largest > kFewest) {
      EXPECT_LE(largest * static_cast<int64_t>(cut.pixel_bytes),
                cut.threads == 1 ? kCacheBytes : kSharedCacheBytes);
    }
    // Tiles are no smaller than a kernel's rows, except to give each thread a tile.
    EXPECT_LE(cut.tiling.tiles.parts, (cut.pixels + kFewest - 1) / kFewest + cut.threads - 1);
  }
}

TEST(CutWork, ThreadsGetEqualShares) {
  SCOPED_TRACE(ReplayHint());
  for (const Cut& cut : ManyCuts()) {
    SCOPED_TRACE(Describe(cut));
    if (cut.threads == 1) {
      EXPECT_EQ(cut.tiling.blocks, 1);
      continue;
    }
    const int64_t tiles = cut.tiling.tiles.parts;
    EXPECT_TRUE(tiles % cut.threads == 0 || cut.tiling.blocks > 1 ||
                tiles == cut.tiling.tiles.steps());
    EXPECT_GE(cut.tiling.blocks, 1);
    EXPECT_LE(cut.tiling.blocks, cut.step_blocks);
    const int64_t wanted = 4 * int64_t{cut.threads};
    // Blocks are cut only if tiles are few, and only as far as needed.
    if (tiles >= wanted) {
      EXPECT_EQ(cut.tiling.blocks, 1);
    } else if (cut.tiling.blocks < cut.step_blocks) {
      EXPECT_GE(cut.tiling.units(), wanted);
      EXPECT_LT(cut.tiling.units() - tiles, wanted);
    }
  }
}

// 7 x 7 pixels with 512 channels are typical of the end of a network.
TEST(CutWork, AnExample) {
  const Tiling alone = CutWork(49, 2048, {.tile = 6}, 32, 1);
  EXPECT_EQ(alone.tiles.parts, 2);
  EXPECT_EQ(alone.blocks, 1);
  const Tiling shared = CutWork(49, 2048, {.tile = 6}, 32, 4);
  EXPECT_EQ(shared.tiles.parts, 9);
  EXPECT_EQ(shared.blocks, 2);
  // Two samples of a dense layer stay one tile, because every tile would read all filters.
  const Tiling dense = CutWork(2, 1024, {.tile = 6}, 128, 2);
  EXPECT_EQ(dense.tiles.parts, 1);
  EXPECT_EQ(dense.blocks, 8);
  // There are more threads than tiles of a kernel. A group of steps, which has no blocks, is cut
  // finer.
  const Tiling many = CutWork(49, 2048, {.tile = 8, .step = 2}, 1, 28);
  EXPECT_EQ(many.tiles.parts, 25);
  EXPECT_EQ(many.tiles.Most(), 2);
}

TEST(CutWork, OnlyTheLastTileHasHalfAPair) {
  const EvenParts tiles = CutWork(49, 8192, {.tile = 8, .step = 2}, 32, 1).tiles;
  std::vector<int64_t> sizes;
  for (int64_t tile = 0; tile < tiles.parts; ++tile) {
    sizes.push_back(tiles.Begin(tile + 1) - tiles.Begin(tile));
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{8, 8, 8, 8, 6, 6, 5}));
}

}  // namespace
}  // namespace larq_engine
