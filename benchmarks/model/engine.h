// The engine under test: the delegate that is linked into this program.
#ifndef BENCHMARKS_MODEL_ENGINE_H_
#define BENCHMARKS_MODEL_ENGINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct TfLiteDelegate;

namespace larq_engine {

struct Flags;

// One operator that the engine runs.
struct EngineStep {
  std::string op;
  std::string name;
  std::string kernel;
  int node = 0;
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t macs = 0;  // of one call
};

// What larq_engine_profile_read writes. Throws RunError for any other text.
std::vector<EngineStep> ParseSteps(std::string_view json);

class BenchmarkedEngine {
 public:
  // Throws UsageError if an option is unknown.
  explicit BenchmarkedEngine(const Flags& flags);
  ~BenchmarkedEngine();
  BenchmarkedEngine(const BenchmarkedEngine&) = delete;
  BenchmarkedEngine& operator=(const BenchmarkedEngine&) = delete;

  TfLiteDelegate* delegate() const { return delegate_; }

  void StartProfile();
  std::vector<EngineStep> StopProfile();

 private:
  TfLiteDelegate* delegate_;
};

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_ENGINE_H_
