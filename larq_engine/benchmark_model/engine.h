// The engine as a delegate of LiteRT, which is linked into this program.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_H_

#include <array>
#include <string>
#include <vector>

#include "larq_engine/runtime/memory_report.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

struct Flags;

// The engine's options of the command line, as the texts that the engine takes. They point to the
// flags and to each other.
struct OptionTexts {
  explicit OptionTexts(const Flags& flags);
  OptionTexts(const OptionTexts&) = delete;
  OptionTexts& operator=(const OptionTexts&) = delete;

  static constexpr std::array kKeys = {"num_threads", "kernel", "fuse", "device", "placement"};
  const std::string threads;
  const std::array<const char*, kKeys.size()> values;
};

class BenchmarkedEngine {
 public:
  // Throws UsageError if an option is unknown.
  explicit BenchmarkedEngine(const Flags& flags);
  ~BenchmarkedEngine();
  BenchmarkedEngine(const BenchmarkedEngine&) = delete;
  BenchmarkedEngine& operator=(const BenchmarkedEngine&) = delete;

  TfLiteDelegate* delegate() const { return delegate_; }
  int num_threads() const { return num_threads_; }

  // Returns the memory that the engine's plans hold on devices with memory of their own.
  std::vector<MemoryReport> DeviceMemory() const;

  void StartProfile();
  std::vector<StepProfile> StopProfile();

 private:
  int num_threads_;
  TfLiteDelegate* delegate_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_H_
