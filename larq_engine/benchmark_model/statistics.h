// Statistics of a list of times.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_STATISTICS_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_STATISTICS_H_

#include <cstddef>
#include <vector>

namespace larq_engine {

struct Statistics {
  size_t count = 0;
  double mean = 0;
  double deviation = 0;  // of the sample; 0 for a single time
  double min = 0;
  double max = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

// Returns zeros if there is no time. A percentile lies between the two nearest times, as NumPy's
// does.
Statistics Summarize(std::vector<double> times);

// Returns the mean of the middle half; 0 if there is no time. It leaves out disturbed runs, and has
// a higher resolution than times that are whole numbers.
double MiddleMean(std::vector<double> times);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_STATISTICS_H_
