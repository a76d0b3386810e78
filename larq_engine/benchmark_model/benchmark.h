// Benchmarks a model: loads it, runs it, times it and compares its outputs with files.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_BENCHMARK_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_BENCHMARK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/op_table.h"
#include "larq_engine/benchmark_model/statistics.h"
#include "larq_engine/benchmark_model/tensor_data.h"
#include "larq_engine/benchmark_model/timed_model.h"
#include "larq_engine/runtime/memory_report.h"

namespace larq_engine {

// One output and the file that it was compared with.
struct CheckResult {
  std::string output;
  std::string path;
  size_t elements = 0;
  Difference difference;

  bool ok() const { return difference.values == 0; }
};

struct BenchmarkResult {
  std::string litert_path;  // empty without LiteRT
  uint64_t model_bytes = 0;
  std::vector<ModelTensor> inputs;
  std::vector<ModelTensor> outputs;
  std::vector<std::string> kernels;  // rows that the model's layers run on, each once

  // Times in milliseconds.
  double library_ms = 0;  // opening LiteRT and making its environment
  double load_ms = 0;     // reading and checking the file
  double compile_ms = 0;  // delegates, plans, buffers
  double first_ms = 0;
  Statistics warmup;
  Statistics measured;

  // Memory of this process.
  int64_t bytes_before_init = 0;
  int64_t bytes_after_init = 0;
  int64_t peak_bytes = 0;
  std::vector<MemoryReport> device_memory;  // after init

  std::optional<OpTable> ops;  // with --enable_op_profiling
  std::vector<CheckResult> checks;

  double init_ms() const { return library_ms + load_ms + compile_ms; }
};

// Throws UsageError or RunError. Writes the files of --save_outputs, and nothing else.
BenchmarkResult RunBenchmark(const Flags& flags);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_BENCHMARK_H_
