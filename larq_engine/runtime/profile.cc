#include "larq_engine/runtime/profile.h"

#include <cstdio>

namespace larq_engine {
namespace {

// Names come from model files. Bytes outside ASCII stand for themselves: the reader decides what to
// do with text that is not UTF-8.
std::string JsonString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[7];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

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
