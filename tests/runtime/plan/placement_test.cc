// Tests that devices are called as a placement says, and in which order.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/host/delegate.h"
#include "larq_engine/runtime/larq_engine.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"
#include "tests/runtime/plan/mirror_device.h"

namespace larq_engine::testing {
namespace {

using ::testing::ElementsAre;

constexpr size_t kCpu = 0;
constexpr size_t kMirror = 1;

using Calls = std::vector<std::string>;

class LoggedSegment : public Segment {
 public:
  LoggedSegment(std::unique_ptr<Segment> segment, std::string description, Calls& calls)
      : segment_(std::move(segment)), description_(std::move(description)), calls_(calls) {}

  void Resize(int host_threads) override { segment_->Resize(host_threads); }
  void Run(const SegmentRun& run) override {
    calls_.push_back(description_);
    segment_->Run(run);
  }
  void ClearProfile() override { segment_->ClearProfile(); }
  void AppendProfile(std::vector<StepProfile>& steps) const override {
    segment_->AppendProfile(steps);
  }

 private:
  std::unique_ptr<Segment> segment_;
  std::string description_;
  Calls& calls_;
};

// A device that records when its segments are run.
template <typename Device>
class Told : public Device {
 public:
  template <typename... Args>
  explicit Told(Calls& calls, const Args&... args) : Device(args...), calls_(calls) {}

  std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                   const std::vector<bool>& is_shared) override {
    std::string description = this->device();
    for (size_t op : ops) description += " " + std::to_string(program.op(op).name.node);
    return std::make_unique<LoggedSegment>(Device::Compile(program, ops, is_shared), description,
                                           calls_);
  }

 private:
  Calls& calls_;
};

NodePlacement On(size_t device) { return {.parts = {{.device = device}}}; }

NodePlacement Halves(size_t first, size_t second) {
  return {.parts = {{.device = first}, {.device = second}}, .channels = 32};
}

struct Ran {
  Calls calls;
  Outputs outputs;
};

Ran RunPlaced(const Graph& graph, const std::vector<NodePlacement>& places) {
  Ran ran;
  EngineOptions options;
  options.kernel = "auto";
  options.num_threads = 1;
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(std::make_unique<Told<CpuExecutor>>(ran.calls, options));
  auto mirror = std::make_unique<Told<MirrorExecutor>>(ran.calls);
  mirror->memory()->on_copy = [&](const std::string& what) { ran.calls.push_back(what); };
  executors.push_back(std::move(mirror));
  Placement placement;
  for (size_t i = 0; i < places.size(); ++i) {
    placement.nodes[{0, static_cast<int>(i)}] = places[i];
  }
  const DelegatePtr delegate(MakeDelegate(
      std::make_shared<Engine>(options, std::move(executors), std::move(placement)), options));
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_TRUE(RunOnce(&host, 1, 0x11, &ran.outputs)) << host.errors();
  return ran;
}

Outputs RunAlone(const Graph& graph) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  EXPECT_TRUE(RunOnce(&host, 1, 0x22, &outputs)) << host.errors();
  return outputs;
}

Graph ThreeOperators() {
  ModelBuilder builder(kTfLiteFloat32, {1, 6, 6, 33});
  return builder.AddQuantize().AddConv({.filters = 48}).AddPrelu().Build();
}

// The mirror's half is queued before the CPU begins with its own. Nothing between them waits for
// the mirror, on whatever devices the operators before and after are.
TEST(Placement, HalvesOfALayerAreComputedAtTheSameTime) {
  const Graph graph = ThreeOperators();
  const Outputs expected = RunAlone(graph);
  const auto calls = [&](size_t before, NodePlacement halves, size_t after) {
    const Ran ran = RunPlaced(graph, {On(before), std::move(halves), On(after)});
    EXPECT_EQ(ran.outputs, expected);
    return ran.calls;
  };
  EXPECT_THAT(calls(kCpu, Halves(kCpu, kMirror), kCpu),
              ElementsAre("cpu 0", "in", "mirror 1", "cpu 1", "out", "cpu 1 2"));
  EXPECT_THAT(calls(kMirror, Halves(kMirror, kCpu), kMirror),
              ElementsAre("in", "mirror 0", "out", "mirror 1", "cpu 1", "in", "mirror 1 2", "out"));
  EXPECT_THAT(calls(kMirror, Halves(kCpu, kMirror), kCpu),
              ElementsAre("in", "mirror 0", "out", "mirror 1", "cpu 1", "out", "cpu 1 2"));
  EXPECT_THAT(calls(kCpu, Halves(kMirror, kCpu), kMirror),
              ElementsAre("cpu 0", "in", "mirror 1", "cpu 1", "in", "mirror 1 2", "out"));
}

// The second layer reads what the first one makes.
TEST(Placement, LayersOneAfterTheOtherAreCutBoth) {
  ModelBuilder builder(kTfLiteFloat32, {1, 6, 6, 33});
  const Graph graph = builder.AddQuantize()
                          .AddConv({.filters = 64, .output = kTfLiteInt32})
                          .AddConv({.filters = 48})
                          .Build();
  const NodePlacement halves = Halves(kCpu, kMirror);
  const Ran ran = RunPlaced(graph, {On(kCpu), halves, halves});
  EXPECT_EQ(ran.outputs, RunAlone(graph));
  EXPECT_THAT(ran.calls, ElementsAre("cpu 0", "in", "mirror 1", "cpu 1", "out", "cpu 1", "in",
                                     "mirror 2", "cpu 2", "out", "cpu 2"));
}

// Only the quantization reads the sum. So the sum is absorbed if both may be on one device.
TEST(Placement, WhatCouldBeAbsorbedIsWhereItIsPlaced) {
  ModelBuilder builder(kTfLiteFloat32, {1, 6, 6, 33});
  const Graph graph = builder.AddBinary(builtin::kAdd, kTfLiteActNone).AddQuantize().Build();
  const Outputs expected = RunAlone(graph);
  const auto calls = [&](const std::vector<NodePlacement>& places) {
    const Ran ran = RunPlaced(graph, places);
    EXPECT_EQ(ran.outputs, expected);
    return ran.calls;
  };
  EXPECT_THAT(calls({On(kCpu), On(kMirror)}), ElementsAre("cpu 0", "in", "mirror 1", "out"));
  EXPECT_THAT(calls({On(kMirror), On(kCpu)}), ElementsAre("in", "mirror 0", "out", "cpu 1"));
  EXPECT_THAT(calls({On(kMirror), On(kMirror)}), ElementsAre("in", "mirror 1", "out"));
  // The quantization has no place of its own, so it absorbs the sum and runs in the sum's place.
  EXPECT_THAT(calls({On(kMirror)}), ElementsAre("in", "mirror 1", "out"));
}

}  // namespace
}  // namespace larq_engine::testing
