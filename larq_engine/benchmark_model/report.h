// The result as text for people and as JSON for programs.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_REPORT_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_REPORT_H_

#include <string>

#include "larq_engine/benchmark_model/benchmark.h"
#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/json.h"
#include "larq_engine/benchmark_model/machine.h"

namespace larq_engine {

// Add what both JSON files have of the machine and of the options.
void AddMachine(JsonWriter& json, const Machine& machine);
void AddOptions(JsonWriter& json, const Flags& flags);

std::string TextReport(const Flags& flags, const Machine& machine, const BenchmarkResult& result);
std::string JsonReport(const Flags& flags, const Machine& machine, const BenchmarkResult& result);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_REPORT_H_
