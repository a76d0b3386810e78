#include "tests/host/run_graph.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace larq_engine::testing {
namespace {

// The interface reports through a plain function, which has no way to pass a destination.
thread_local std::string* report_destination = nullptr;

void Report(const char* message) {
  if (report_destination != nullptr) *report_destination = message;
}

}  // namespace

DelegatePtr CreateDelegate(const DelegateOptions& options, std::string* error) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  report_destination = error;
  DelegatePtr delegate(
      tflite_plugin_create_delegate(keys.data(), values.data(), keys.size(), Report));
  report_destination = nullptr;
  return delegate;
}

void FillInputs(MiniHost* host, uint32_t seed) {
  std::minstd_rand random(seed + 1);  // fast, because the fuzzer fills often
  for (size_t i = 0; i < host->input_count(); ++i) {
    if (host->input(i).allocation_type == kTfLiteMmapRo) continue;
    const std::span<uint8_t> bytes = host->InputBytes(i);
    const TfLiteType type = host->input(i).type;
    if (type == kTfLiteFloat32) {
      for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
        const uint32_t bits = static_cast<uint32_t>(random()) >> 8;  // low bits repeat early
        float value = (static_cast<int>(bits % 65) - 32) / 16.0f;
        if (value == 0 && (bits & 0x10000) != 0) value = -0.0f;
        std::memcpy(&bytes[at], &value, sizeof(value));
      }
    } else {
      const uint32_t mask = type == kTfLiteBool ? 1 : 255;
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 8 & mask);
    }
  }
}

bool RunOnce(MiniHost* host, uint32_t seed, uint8_t garbage, Outputs* outputs) {
  if (host->Allocate() != kTfLiteOk) return false;
  for (size_t i = 0; i < host->output_count(); ++i) {
    if (host->output(i).allocation_type == kTfLiteMmapRo) continue;
    std::ranges::fill(host->OutputBytes(i), garbage);
  }
  FillInputs(host, seed);  // follows the outputs: a tensor may be both
  if (host->Invoke() != kTfLiteOk) return false;
  outputs->clear();
  for (size_t i = 0; i < host->output_count(); ++i) {
    const std::span<const uint8_t> bytes = host->OutputBytes(i);
    outputs->emplace_back(bytes.begin(), bytes.end());
  }
  return true;
}

}  // namespace larq_engine::testing
