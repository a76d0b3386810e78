#include "larq_engine/runtime/plan/layout.h"

#include <new>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kGpu = 1;

// Operator 0 reads the host's value 0 and makes value 1, and so on; the host reads the last value.
std::vector<std::vector<Lifetime>> LifetimesOf(const std::vector<size_t>& devices) {
  std::vector<ScheduleOp> ops;
  std::vector<ScheduleValue> values = {{.producer = -1}};
  for (size_t i = 0; i < devices.size(); ++i) {
    ops.push_back({.inputs = {i}, .output = i + 1, .device = devices[i]});
    values.push_back({.producer = static_cast<int>(i)});
  }
  values.back().host_reads = true;
  return FindLifetimes(ops, values, MakeSchedule(ops, values), 2);
}

TEST(FindLifetimes, OnePartNeedsTheHostsTensorsOnly) {
  const auto lifetimes = LifetimesOf({kCpuDevice, kCpuDevice});
  EXPECT_THAT(lifetimes[kCpuDevice], IsEmpty());
  EXPECT_THAT(lifetimes[kGpu], IsEmpty());
}

// The actions are: 0 runs operator 0, 1 copies value 1 in, 2 runs operators 1 and 2, 3 copies value
// 3 out, 4 runs operator 3.
TEST(FindLifetimes, ValuesLiveFromTheirCopyOrMakerToTheirLastReader) {
  const auto lifetimes = LifetimesOf({kCpuDevice, kGpu, kGpu, kCpuDevice});
  EXPECT_THAT(lifetimes[kCpuDevice], ElementsAre(Lifetime{.value = 1, .first = 0, .last = 1},
                                                 Lifetime{.value = 3, .first = 3, .last = 4}));
  EXPECT_THAT(lifetimes[kGpu], ElementsAre(Lifetime{.value = 1, .first = 1, .last = 2},
                                           Lifetime{.value = 3, .first = 2, .last = 3}));
}

// The actions are: 0 copies value 0 in, 1 runs operator 0, 2 copies value 1 out.
TEST(FindLifetimes, TheHostsTensorsHaveAPlaceOnOtherDevices) {
  const auto lifetimes = LifetimesOf({kGpu});
  EXPECT_THAT(lifetimes[kCpuDevice], IsEmpty());
  EXPECT_THAT(lifetimes[kGpu], ElementsAre(Lifetime{.value = 0, .first = 0, .last = 1},
                                           Lifetime{.value = 1, .first = 1, .last = 2}));
}

TEST(FindLifetimes, ConstantsHaveNone) {
  const std::vector<ScheduleOp> ops = {{.inputs = {0}, .output = 1, .device = kGpu}};
  const std::vector<ScheduleValue> values = {{.producer = -1, .is_constant = true},
                                             {.producer = 0}};
  const auto lifetimes = FindLifetimes(ops, values, MakeSchedule(ops, values), 2);
  EXPECT_THAT(lifetimes[kGpu], IsEmpty());
}

TEST(PlaceValues, LifetimesThatMeetDoNotOverlap) {
  const std::vector<Lifetime> lifetimes = {{.value = 2, .first = 0, .last = 1},
                                           {.value = 0, .first = 1, .last = 2},
                                           {.value = 1, .first = 2, .last = 3}};
  const ArenaLayout layout = PlaceValues(lifetimes, std::vector<size_t>{100, 60, 64});
  EXPECT_THAT(layout.offsets, ElementsAre(2 * kBufferAlignment, 0, 2 * kBufferAlignment));
  EXPECT_EQ(layout.bytes, 2 * kBufferAlignment + 64);
}

TEST(PlaceValues, MoreThanMemoryHoldsIsRefused) {
  const std::vector<Lifetime> lifetimes(5, {.value = 0, .first = 0, .last = 1});
  EXPECT_THROW(PlaceValues(lifetimes, std::vector<size_t>{kMaxMemory}), std::bad_alloc);
}

}  // namespace
}  // namespace larq_engine
