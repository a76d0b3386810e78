#include "larq_engine/benchmark_model/engine.h"

#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {

OptionTexts::OptionTexts(const Flags& flags)
    : threads(std::to_string(flags.num_threads)),
      values{threads.c_str(), flags.kernel.c_str(), flags.fuse ? "on" : "off", flags.device.c_str(),
             flags.placement.c_str()} {}

BenchmarkedEngine::BenchmarkedEngine(const Flags& flags) : num_threads_(flags.num_threads) {
  const OptionTexts options(flags);
  static std::string refusal;  // static, because the error function gets no data of ours
  delegate_ = tflite_plugin_create_delegate(options.kKeys.data(), options.values.data(),
                                            options.values.size(),
                                            [](const char* message) { refusal = message; });
  if (delegate_ == nullptr) throw UsageError(refusal);
}

BenchmarkedEngine::~BenchmarkedEngine() { tflite_plugin_destroy_delegate(delegate_); }

std::vector<MemoryReport> BenchmarkedEngine::DeviceMemory() const { return ReadMemory(delegate_); }

void BenchmarkedEngine::StartProfile() { larq_engine_profile_start(delegate_); }

std::vector<StepProfile> BenchmarkedEngine::StopProfile() {
  return larq_engine::StopProfile(delegate_);
}

}  // namespace larq_engine
