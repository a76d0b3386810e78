#include "larq_engine/benchmark_model/measurements_file.h"

#include "larq_engine/benchmark_model/json.h"
#include "larq_engine/benchmark_model/report.h"
#include "larq_engine/benchmark_model/statistics.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

void AddStep(JsonWriter& json, const TimedStep& timed) {
  const StepProfile& step = timed.step;
  json.BeginObject("");
  json.Add("op", step.op);
  json.Add("node", step.node);
  json.Add("absorbed", std::span<const int>(step.absorbed));
  json.Add("group", step.group);
  json.Add("device", step.device);
  json.Add("kernel", step.kernel);
  json.Add("bytes", step.bytes);
  json.Add("nanoseconds", std::span<const int64_t>(timed.nanoseconds));
  json.End();
}

void AddHost(JsonWriter& json, const HostProfile& host) {
  json.BeginObject("host");
  json.Add("refusal", host.refusal);
  json.BeginArray("operators");
  for (const HostOpTimes& op : host.ops()) {
    json.BeginObject("");
    json.Add("node", op.node);
    json.Add("seconds", MiddleMean(op.seconds));
    json.Add("source", op.source);
    json.End();
  }
  json.End();
  json.End();
}

void AddWay(JsonWriter& json, const char* key, const TimedRuns& runs) {
  json.BeginObject(key);
  json.Add("nanoseconds", std::span<const int64_t>(runs.nanoseconds));
  json.BeginArray("steps");
  for (const TimedStep& timed : runs.steps) AddStep(json, timed);
  json.End();
  AddHost(json, runs.host);
  json.End();
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string MeasurementsFile(const Flags& flags, const Machine& machine,
                             std::span<const uint8_t> file, const ProfileRuns& runs) {
  JsonWriter json;
  json.Add("larq_engine_measurements", 1);
  json.Add("engine", larq_engine_version());
  json.BeginObject("model");
  json.Add("name", BaseName(flags.graph));
  json.Add("bytes", file.size());
  json.Add("crc32", Crc32(file));
  json.End();
  AddMachine(json, machine);
  AddOptions(json, flags);
  json.BeginObject("ways");
  AddWay(json, "fused", runs.fused);
  AddWay(json, "single", runs.single);
  if (runs.host) AddWay(json, "host", *runs.host);
  return json.Finish();
}

uint32_t Crc32(std::span<const uint8_t> data) {
  uint32_t crc = ~uint32_t{0};
  for (const uint8_t byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

}  // namespace larq_engine
