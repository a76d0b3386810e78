// The engine under test: the delegate that is linked into this program.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_H_

#include <vector>

#include "larq_engine/runtime/memory_report.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

struct Flags;

class BenchmarkedEngine {
 public:
  // Throws UsageError if an option is unknown.
  explicit BenchmarkedEngine(const Flags& flags);
  ~BenchmarkedEngine();
  BenchmarkedEngine(const BenchmarkedEngine&) = delete;
  BenchmarkedEngine& operator=(const BenchmarkedEngine&) = delete;

  TfLiteDelegate* delegate() const { return delegate_; }

  // Returns the memory that the engine's plans hold on devices with memory of their own.
  std::vector<MemoryReport> DeviceMemory() const;

  void StartProfile();
  std::vector<StepProfile> StopProfile();

 private:
  TfLiteDelegate* delegate_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_H_
