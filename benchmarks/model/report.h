// The result as text for people and as JSON for programs.
#ifndef BENCHMARKS_MODEL_REPORT_H_
#define BENCHMARKS_MODEL_REPORT_H_

#include <string>

#include "benchmarks/model/benchmark.h"
#include "benchmarks/model/flags.h"
#include "benchmarks/model/machine.h"

namespace larq_engine {

std::string TextReport(const Flags& flags, const Machine& machine, const BenchmarkResult& result);
std::string JsonReport(const Flags& flags, const Machine& machine, const BenchmarkResult& result);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_REPORT_H_
