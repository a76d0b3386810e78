// Tests the timing of steps in both forms: the events that the host's profiler receives, and the
// plug-in's own JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordingProfiler : public ProfilerInterface {
 public:
  uint32_t BeginEvent(const char* tag, EventType type, int64_t node, int64_t) override {
    EXPECT_EQ(type, EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT);
    events.push_back("begin " + std::string(tag) + " #" + std::to_string(node));
    return static_cast<uint32_t>(events.size());
  }
  void EndEvent(uint32_t handle, int64_t, int64_t) override { EndEvent(handle); }
  void EndEvent(uint32_t handle) override {
    ASSERT_EQ(handle, events.size()) << "events overlap";
    events.push_back("end");
  }
  void AddEvent(const char*, EventType, uint64_t, int64_t, int64_t) override {
    ADD_FAILURE() << "unexpected AddEvent";
  }
  void AddEventWithData(const char*, EventType, const void*) override {
    ADD_FAILURE() << "unexpected AddEventWithData";
  }

  std::vector<std::string> events;
};

Graph ThreeOperators() {
  return ModelBuilder(kTfLiteFloat32, {1, 4, 5, 32})
      .AddQuantize()
      .AddPool({.stride_height = 1, .stride_width = 1})
      .AddConv({.filters = 8, .filter_height = 1, .filter_width = 1})
      .Build();
}

std::string ReadProfile(TfLiteDelegate* delegate) {
  std::vector<char> text(larq_engine_profile_read(delegate, nullptr, 0) + 1);
  EXPECT_EQ(larq_engine_profile_read(delegate, text.data(), text.size()), text.size() - 1);
  return text.data();
}

TEST(ProfileEvents, HostsProfilerSeesEveryStepUnderItsName) {
  const DelegatePtr delegate = CreateDelegate({});
  RecordingProfiler profiler;
  MiniHost host(ThreeOperators());
  host.SetProfiler(&profiler);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  EXPECT_THAT(profiler.events, ElementsAre("begin LceQuantize #0", "end", "begin LceBMaxPool2d #1",
                                           "end", "begin LceBconv2d #2", "end"));
}

class TagKeepingProfiler : public RecordingProfiler {
 public:
  uint32_t BeginEvent(const char* tag, EventType type, int64_t node, int64_t subgraph) override {
    tags.push_back(tag);
    return RecordingProfiler::BeginEvent(tag, type, node, subgraph);
  }
  std::vector<const char*> tags;
};

// A host's profiler keeps the pointers and reads them at its own end.
TEST(ProfileEvents, TagsOutliveThePlans) {
  TagKeepingProfiler profiler;
  {
    const DelegatePtr delegate = CreateDelegate({});
    MiniHost host(ModelBuilder(kTfLiteFloat32, {1, 4, 5, 32})
                      .AddQuantize()
                      .AddConv({.filters = 8})
                      .AddBinary(builtin::kMul, kTfLiteActNone)
                      .AddRelu(builtin::kRelu)
                      .Build());
    host.SetProfiler(&profiler);
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
    ASSERT_EQ(host.ResizeInput(0, std::vector<int>{2, 2, 2, 32}), kTfLiteOk);
    ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  }
  const std::vector<std::string> tags(profiler.tags.begin(), profiler.tags.end());
  // The operators run together as long as there are enough pixels.
  EXPECT_THAT(tags, ElementsAre("LceQuantize", "LceBconv2d+MUL+RELU", "LceQuantize", "LceBconv2d",
                                "MUL", "RELU"));
}

// Replaces everything between each `begin` and the next `end` by "?".
std::string Without(std::string text, const std::string& begin, const std::string& end) {
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    text.replace(at, text.find(end, at) - at, "?");
  }
  return text;
}

TEST(ProfileEvents, JsonHasEveryStepInOrder) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(ThreeOperators());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  larq_engine_profile_start(delegate.get());
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs));
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs));
  const std::string json = ReadProfile(delegate.get());
  // The macs are 4 * 5 pixels * 8 filters * 32 channels.
  const std::string expected =
      "{\"steps\":["
      "{\"op\":\"LceQuantize\",\"name\":\"LceQuantize0\",\"layer\":"
      "\"LceQuantize0\",\"node\":0,\"subgraph\":-1,\"device\":\"cpu\",\"kernel\":\"\","
      "\"calls\":2,\"total_ns\":?,\"macs\":0,\"absorbed_macs\":0,\"bytes\":0,\"reason\":\"\","
      "\"group\":0,"
      "\"absorbed\":[]},"
      "{\"op\":\"LceBMaxPool2d\",\"name\":\"LceBMaxPool2d1\","
      "\"layer\":\"LceBMaxPool2d1\",\"node\":1,\"subgraph\":-1,\"device\":\"cpu\",\"kernel\":"
      "\"\","
      "\"calls\":2,\"total_ns\":?,\"macs\":0,\"absorbed_macs\":0,\"bytes\":0,\"reason\":\"\","
      "\"group\":1,"
      "\"absorbed\":[]},"
      "{\"op\":\"LceBconv2d\",\"name\":\"LceBconv2d2\",\"layer\":"
      "\"LceBconv2d2\",\"node\":2,\"subgraph\":-1,\"device\":\"cpu\",\"kernel\":\"b?\","
      "\"calls\":2,\"total_ns\":?,\"macs\":5120,\"absorbed_macs\":0,\"bytes\":0,\"reason\":\"\","
      "\"group\":2,"
      "\"absorbed\":[]}"
      "]}";
  // The name of the kernel depends on the CPU: bgemm_... or bytes_...
  EXPECT_EQ(Without(Without(json, "\"total_ns\":", ","), "\"kernel\":\"b", "\""), expected);
  // Reading has switched the timing off.
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs));
  EXPECT_EQ(ReadProfile(delegate.get()), json);
  // Starting clears the times.
  larq_engine_profile_start(delegate.get());
  EXPECT_THAT(ReadProfile(delegate.get()), HasSubstr("\"calls\":0"));
}

TEST(ProfileEvents, JsonNamesTheForcedKernel) {
  const DelegatePtr delegate = CreateDelegate({{"kernel", "reference"}});
  MiniHost host(ThreeOperators());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  EXPECT_THAT(ReadProfile(delegate.get()), HasSubstr("\"kernel\":\"reference\""));
}

// For this shape a quantization must give back what it has absorbed, and then an operator after it
// fails.
TEST(ProfileEvents, CanBeReadAfterAFailedResize) {
  ModelBuilder builder(kTfLiteFloat32, {1, 4, 4, 8});
  builder.AddBinary(builtin::kMul, kTfLiteActNone).AddQuantize().AddDequantize(kTfLiteFloat32);
  builder.AddBinary(builtin::kAdd, kTfLiteActNone, 0).AddPrelu().AddQuantize();
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(builder.Build());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 4, 4, 3}), kTfLiteOk);
  EXPECT_NE(host.Allocate(), kTfLiteOk);
  larq_engine_profile_start(delegate.get());
  EXPECT_THAT(ReadProfile(delegate.get()), HasSubstr("{\"steps\":["));
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 4, 4, 8}), kTfLiteOk);
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
}

TEST(ProfileEvents, ReadTruncatesLikeSnprintf) {
  const DelegatePtr delegate = CreateDelegate({});
  EXPECT_EQ(ReadProfile(delegate.get()), "{\"steps\":[]}");
  char text[8] = "xxxxxxx";
  EXPECT_EQ(larq_engine_profile_read(delegate.get(), text, 5), 12u);
  EXPECT_EQ(std::string(text, 7), std::string("{\"st\0xx", 7));
}

}  // namespace
}  // namespace larq_engine::testing
