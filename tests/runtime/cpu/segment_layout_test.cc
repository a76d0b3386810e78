#include "larq_engine/runtime/cpu/segment_layout.h"

#include <new>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kPixels = 400;
constexpr size_t kPixelBytes = 64;
constexpr size_t kBytes = kPixels * kPixelBytes;

// Makes a step like a convolution, which reads its input anywhere.
SizedStep Window(size_t input, size_t output) {
  return {.inputs = {{.value = input, .bytes = kBytes, .is_read_whole = true}},
          .output = output,
          .output_bytes = kBytes,
          .pixels = kPixels,
          .kernel_pixels = {.tile = 8},
          .scratch_bytes = 100};
}

// Makes a step that reads the pixels that it computes.
SizedStep Pixelwise(const std::vector<size_t>& inputs, size_t output) {
  SizedStep step = Window(0, output);
  step.inputs.clear();
  for (size_t input : inputs) {
    step.inputs.push_back({.value = input, .bytes = kBytes, .is_read_whole = false});
  }
  step.pixelwise = true;
  step.scratch_bytes = 0;
  return step;
}

SizedStep Shared(SizedStep step) {
  step.is_shared = true;
  return step;
}

std::vector<std::vector<size_t>> Groups(const SegmentLayout& layout) {
  std::vector<std::vector<size_t>> groups;
  for (const StepGroup& group : layout.groups) groups.push_back(group.steps);
  return groups;
}

TEST(LayOutSegment, NoStepsNeedNothing) {
  const SegmentLayout layout = LayOutSegment({}, true, 1);
  EXPECT_THAT(layout.groups, IsEmpty());
  EXPECT_EQ(layout.arena_bytes, 0u);
  EXPECT_EQ(layout.scratch_bytes, 0u);
}

// Values 0 and 3 are shared. Value 1 lives within the first group, and value 2 passes to the
// second.
TEST(LayOutSegment, ValuesLieInTilesTheArenaAndSharedPlaces) {
  const std::vector<SizedStep> steps = {Window(0, 1), Pixelwise({1}, 2), Shared(Window(2, 3))};
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  EXPECT_THAT(Groups(layout), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_EQ(layout.steps[0].inputs[0].kind, PlaceKind::kShared);
  EXPECT_EQ(layout.steps[0].inputs[0].value, 0u);
  EXPECT_EQ(layout.steps[0].output.kind, PlaceKind::kTile);
  EXPECT_EQ(layout.steps[1].output.kind, PlaceKind::kArena);
  EXPECT_EQ(layout.steps[2].output.kind, PlaceKind::kShared);
  EXPECT_EQ(layout.steps[2].output.value, 3u);
  EXPECT_EQ(layout.arena_bytes, kBytes);
}

TEST(LayOutSegment, AReaderFindsWhatTheMakerLeft) {
  const std::vector<SizedStep> steps = {Window(0, 1), Pixelwise({1}, 2), Shared(Window(2, 3))};
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  for (size_t reader : {1, 2}) {
    const ValuePlace& read = layout.steps[reader].inputs[0];
    const ValuePlace& made = layout.steps[reader - 1].output;
    EXPECT_EQ(read.kind, made.kind);
    EXPECT_EQ(read.offset, made.offset);
  }
}

TEST(LayOutSegment, TilesLieBehindTheScratchOfSteps) {
  const std::vector<SizedStep> steps = {Window(0, 1), Shared(Pixelwise({1}, 2))};
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  EXPECT_EQ(layout.steps[0].output.offset, 2 * kBufferAlignment);  // 100 bytes, rounded up
  const auto tile = static_cast<size_t>(layout.groups[0].tiling.tiles.Most());
  EXPECT_EQ(layout.scratch_bytes, 2 * kBufferAlignment + tile * kPixelBytes);
}

TEST(LayOutSegment, WholeInputsDoNotMoveFromPixelToPixel) {
  const std::vector<SizedStep> steps = {Window(0, 1), Shared(Pixelwise({1, 0}, 2))};
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  EXPECT_EQ(layout.steps[0].inputs[0].pixel_bytes, 0u);
  EXPECT_EQ(layout.steps[0].output.pixel_bytes, kPixelBytes);
  EXPECT_EQ(layout.steps[1].inputs[1].pixel_bytes, kPixelBytes);
}

TEST(LayOutSegment, SharedPlacesMoveFromPassToPass) {
  const std::vector<SizedStep> steps = {Shared(Window(0, 1))};
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  EXPECT_EQ(layout.steps[0].inputs[0].pass_bytes, kBytes);
  EXPECT_EQ(layout.steps[0].output.pass_bytes, kBytes);
}

TEST(LayOutSegment, EachPlaceHasAnAddressOfItsOwn) {
  const std::vector<SizedStep> steps = {Window(0, 1), Shared(Pixelwise({1, 0}, 2))};
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  std::set<size_t> addresses;
  for (const PlacedStep& step : layout.steps) {
    for (const ValuePlace& input : step.inputs) addresses.insert(input.address);
    addresses.insert(step.output.address);
  }
  EXPECT_EQ(addresses.size(), 5u);
  EXPECT_EQ(layout.addresses, 5u);
}

TEST(LayOutSegment, WithoutFusingEachStepIsAGroup) {
  const std::vector<SizedStep> steps = {Window(0, 1), Shared(Pixelwise({1}, 2))};
  EXPECT_THAT(Groups(LayOutSegment(steps, false, 1)), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

// Two steps make the halves of value 1, which both lie in its place.
TEST(LayOutSegment, PartsLieWithinTheirValue) {
  std::vector<SizedStep> steps = {Pixelwise({0}, 1), Pixelwise({0}, 1), Shared(Window(1, 2))};
  for (size_t half : {0, 1}) {
    steps[half].is_of_parts = true;
    steps[half].part_offset = half * kPixelBytes / 2;
    steps[half].part_bytes = kPixelBytes / 2;
  }
  const SegmentLayout layout = LayOutSegment(steps, true, 1);
  EXPECT_THAT(Groups(layout), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_EQ(layout.steps[1].output.offset, layout.steps[0].output.offset + kPixelBytes / 2);
  EXPECT_EQ(layout.steps[2].inputs[0].offset, layout.steps[0].output.offset);
  EXPECT_EQ(layout.arena_bytes, kBytes);
}

TEST(LayOutSegment, OnlyAStepThatIsAloneIsCutInBlocks) {
  SizedStep step = Shared(Window(0, 1));
  step.pixels = 1;
  step.blocks = 6;
  SegmentLayout layout = LayOutSegment(std::vector<SizedStep>{step}, true, 2);
  EXPECT_EQ(layout.groups[0].tiling.blocks, 6);
  SizedStep first = Window(0, 1);
  first.pixels = 20;
  first.blocks = 6;
  first.kernel_pixels.tile = 20;
  SizedStep second = Shared(Pixelwise({1}, 2));
  second.pixels = 20;
  layout = LayOutSegment(std::vector<SizedStep>{first, second}, true, 2);
  ASSERT_EQ(layout.groups.size(), 1u);
  EXPECT_EQ(layout.groups[0].tiling.blocks, 1);
}

TEST(LayOutSegment, MoreThanMemoryHoldsIsRefused) {
  std::vector<SizedStep> steps = {Window(0, 1), Window(1, 2), Shared(Window(2, 3))};
  for (SizedStep& step : steps) step.output_bytes = kMaxMemory;
  EXPECT_THROW(LayOutSegment(steps, true, 1), std::bad_alloc);
}

}  // namespace
}  // namespace larq_engine
