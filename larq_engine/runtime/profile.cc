#include "larq_engine/runtime/profile.h"

#include "larq_engine/runtime/json_string.h"

namespace larq_engine {
namespace {

std::string JoinNumbers(std::span<const int> numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

}  // namespace

std::string ProfileJson(std::span<const StepProfile> steps) {
  std::string json = "{\"steps\":[";
  for (const StepProfile& step : steps) {
    if (json.back() == '}') json += ",";
    json += "{\"op\":" + JsonString(step.op) + ",\"name\":" + JsonString(step.name) +
            ",\"layer\":" + JsonString(step.layer) + ",\"node\":" + std::to_string(step.node) +
            ",\"subgraph\":" + std::to_string(step.subgraph) +
            ",\"device\":" + JsonString(step.device) + ",\"kernel\":" + JsonString(step.kernel) +
            ",\"calls\":" + std::to_string(step.calls) +
            ",\"total_ns\":" + std::to_string(step.total_ns) +
            ",\"macs\":" + std::to_string(step.macs) +
            ",\"absorbed_macs\":" + std::to_string(step.absorbed_macs) +
            ",\"bytes\":" + std::to_string(step.bytes) + ",\"reason\":" + JsonString(step.reason) +
            ",\"group\":" + std::to_string(step.group) + ",\"absorbed\":[" +
            JoinNumbers(step.absorbed) + "]}";
  }
  return json + "]}";
}

}  // namespace larq_engine
