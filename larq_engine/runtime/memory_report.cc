#include "larq_engine/runtime/memory_report.h"

namespace larq_engine {

std::string MemoryJson(std::span<const MemoryReport> reports) {
  std::string json = "{\"devices\":[";
  for (const MemoryReport& report : reports) {
    if (json.back() == '}') json += ",";
    json += "{\"device\":\"" + report.device + "\",\"weights\":" + std::to_string(report.weights) +
            ",\"activations\":" + std::to_string(report.activations) +
            ",\"staging\":" + std::to_string(report.staging) + "}";
  }
  return json + "]}";
}

}  // namespace larq_engine
