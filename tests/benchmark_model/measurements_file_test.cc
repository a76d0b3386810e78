#include "larq_engine/benchmark_model/measurements_file.h"

#include <string_view>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

uint32_t Crc32Of(std::string_view text) {
  return Crc32({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// The check value of the catalogues of CRCs, and values of Python's zlib.crc32.
TEST(MeasurementsFile, TheChecksumIsThatOfZlib) {
  EXPECT_EQ(Crc32Of(""), 0u);
  EXPECT_EQ(Crc32Of("123456789"), 0xCBF43926u);
  EXPECT_EQ(Crc32Of(std::string_view("\0\xFF", 2)), 0x6CDBFD72u);
}

TEST(MeasurementsFile, HasWhatWasMeasured) {
  Flags flags;
  flags.graph = "folder/model.tflite";
  flags.num_threads = 2;
  Machine machine;
  machine.cpu = "a CPU";
  ProfileRuns runs;
  StepProfile step = {};
  step.op = "LceBconv2d";
  step.name = "\xFF";
  step.node = 3;
  step.device = "cpu";
  step.kernel = "a_row";
  step.group = 3;
  step.absorbed = {4, 5};
  runs.fused.steps.push_back({.step = step, .nanoseconds = {7, 8}});
  runs.fused.nanoseconds = {10, 11};
  runs.host.emplace().host.refusal = "no profiler";
  const uint8_t model[] = {1, 2, 3};
  const std::string json = MeasurementsFile(flags, machine, model, runs);
  EXPECT_TRUE(json.starts_with("{\n  \"larq_engine_measurements\": 1,\n")) << json;
  for (const char* part :
       {R"("name": "model.tflite")", R"("bytes": 3)", R"("cpu": "a CPU")", R"("num_threads": 2)",
        R"("nanoseconds": [10, 11])", R"("op": "LceBconv2d")", R"("absorbed": [4, 5])",
        R"("kernel": "a_row")", R"("nanoseconds": [7, 8])", R"("refusal": "no profiler")"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
  EXPECT_EQ(json.find('\xFF'), std::string::npos);
  runs.host.reset();
  const std::string alone = MeasurementsFile(flags, machine, model, runs);
  EXPECT_EQ(alone.find("no profiler"), std::string::npos) << alone;
}

}  // namespace
}  // namespace larq_engine
