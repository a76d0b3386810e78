#include "larq_engine/runtime/plan/schedule.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kHost = -1;
constexpr size_t kGpu = 1;
constexpr size_t kOtherGpu = 2;

// Operators in a row. Value 0 is the input of the first one, and value i + 1 the output of operator
// i, whose last one the host reads.
struct Network {
  explicit Network(const std::vector<size_t>& devices) {
    values.push_back({.producer = kHost});
    for (size_t i = 0; i < devices.size(); ++i) {
      ops.push_back({.inputs = {i}, .output = i + 1, .device = devices[i]});
      values.push_back({.producer = static_cast<int>(i)});
    }
    values.back().host_reads = true;
  }

  Schedule Make() const { return MakeSchedule(ops, values); }

  // Returns each action as a text, such as "in 0 to 1", "out 2 of 1", or "run 0 1 on 0".
  std::vector<std::string> Actions() const {
    const Schedule schedule = Make();
    std::vector<std::string> texts;
    for (const Action& action : schedule.actions) {
      const std::string value = std::to_string(action.value);
      const std::string device = std::to_string(action.device);
      std::string ops;
      switch (action.kind) {
        case Action::kRun:
          for (size_t op : schedule.parts[action.part].ops) ops += std::to_string(op) + " ";
          texts.push_back("run " + ops + "on " + device);
          break;
        case Action::kCopyIn:
          texts.push_back("in " + value + " to " + device);
          break;
        case Action::kCopyOut:
          texts.push_back("out " + value + " of " + device);
      }
    }
    return texts;
  }

  std::vector<ScheduleOp> ops;
  std::vector<ScheduleValue> values;
};

TEST(MakeSchedule, OneDeviceIsOnePartWithoutCopies) {
  EXPECT_THAT(Network({kCpuDevice, kCpuDevice}).Actions(), ElementsAre("run 0 1 on 0"));
}

TEST(MakeSchedule, NoOperatorsAreNoActions) {
  EXPECT_THAT(MakeSchedule({}, {}).actions, IsEmpty());
}

TEST(MakeSchedule, ValuesAreCopiedWhereTheDeviceChanges) {
  EXPECT_THAT(Network({kCpuDevice, kGpu, kGpu, kCpuDevice}).Actions(),
              ElementsAre("run 0 on 0", "in 1 to 1", "run 1 2 on 1", "out 3 of 1", "run 3 on 0"));
  EXPECT_THAT(Network({kGpu}).Actions(), ElementsAre("in 0 to 1", "run 0 on 1", "out 1 of 1"));
}

TEST(MakeSchedule, BetweenDevicesOfTheirOwnMemoryValuesGoThroughTheHosts) {
  EXPECT_THAT(Network({kGpu, kOtherGpu}).Actions(),
              ElementsAre("in 0 to 1", "run 0 on 1", "out 1 of 1", "in 1 to 2", "run 1 on 2",
                          "out 2 of 2"));
}

TEST(MakeSchedule, AValueIsCopiedOnceForAllReaders) {
  Network network({kGpu, kCpuDevice, kCpuDevice, kGpu});
  network.ops[2].inputs = {1, 2};
  network.ops[3].inputs = {0, 3};
  EXPECT_THAT(network.Actions(),
              ElementsAre("in 0 to 1", "run 0 on 1", "out 1 of 1", "run 1 2 on 0", "in 3 to 1",
                          "run 3 on 1", "out 4 of 1"));
}

TEST(MakeSchedule, ConstantsAreNotCopied) {
  Network network({kGpu});
  network.values[0].is_constant = true;
  EXPECT_THAT(network.Actions(), ElementsAre("run 0 on 1", "out 1 of 1"));
}

TEST(MakeSchedule, OperatorsJoinTheFirstPartAfterTheirInputs) {
  Network network({kCpuDevice, kGpu, kCpuDevice, kGpu});
  network.ops[2].inputs = {0};
  network.ops[3].inputs = {1};
  const Schedule schedule = network.Make();
  ASSERT_EQ(schedule.parts.size(), 2u);
  EXPECT_THAT(schedule.parts[0].ops, ElementsAre(0, 2));
  EXPECT_THAT(schedule.parts[1].ops, ElementsAre(1, 3));
}

TEST(MakeSchedule, ValuesOfTheHostAndOfTwoPartsAreShared) {
  EXPECT_THAT(Network({kCpuDevice, kCpuDevice, kGpu}).Make().is_shared,
              ElementsAre(true, false, true, true));
}

// The halves read value 0, and operator 2 reads what both make.
Network Halves(size_t first, size_t second, size_t joined) {
  Network network({first, second, joined});
  network.ops[0].is_first_half = true;
  network.ops[1].inputs = {0};
  network.ops[2].inputs = {1, 2};
  return network;
}

TEST(MakeSchedule, TheHalfInItsOwnMemoryComesFirst) {
  EXPECT_THAT(Halves(kCpuDevice, kGpu, kGpu).Actions(),
              ElementsAre("in 0 to 1", "run 1 on 1", "run 0 on 0", "in 1 to 1", "run 2 on 1",
                          "out 3 of 1"));
  EXPECT_THAT(Halves(kGpu, kCpuDevice, kGpu).Actions(),
              ElementsAre("in 0 to 1", "run 0 on 1", "run 1 on 0", "in 2 to 1", "run 2 on 1",
                          "out 3 of 1"));
}

TEST(MakeSchedule, AHalfWaitsForNothingOfTheOther) {
  const Network network = Halves(kGpu, kCpuDevice, kCpuDevice);
  EXPECT_THAT(network.Actions(),
              ElementsAre("in 0 to 1", "run 0 on 1", "run 1 on 0", "out 1 of 1", "run 2 on 0"));
  const Schedule schedule = network.Make();
  EXPECT_FALSE(schedule.parts[0].overlaps_previous);
  EXPECT_TRUE(schedule.parts[1].overlaps_previous);
  EXPECT_FALSE(schedule.parts[2].overlaps_previous);
}

TEST(MakeSchedule, WhatAHalfReadsIsCopiedOutBeforeTheOtherIsQueued) {
  Network network({kGpu, kGpu, kCpuDevice, kCpuDevice});
  network.ops[1].is_first_half = true;
  network.ops[2].inputs = {1};
  network.ops[3].inputs = {2, 3};
  EXPECT_THAT(network.Actions(), ElementsAre("in 0 to 1", "run 0 on 1", "out 1 of 1", "run 1 on 1",
                                             "run 2 on 0", "out 2 of 1", "run 3 on 0"));
}

TEST(MakeSchedule, HalvesOnOneDeviceAreAsOtherOperators) {
  EXPECT_THAT(Halves(kCpuDevice, kCpuDevice, kCpuDevice).Actions(), ElementsAre("run 0 1 2 on 0"));
}

}  // namespace
}  // namespace larq_engine
