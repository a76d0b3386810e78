#include "larq_engine/benchmark_model/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace larq_engine {
namespace {

double Percentile(const std::vector<double>& sorted, double percent) {
  const double position = percent / 100 * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Statistics Summarize(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const double count = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
  double squares = 0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return {.count = times.size(),
          .mean = mean,
          .deviation = times.size() > 1 ? std::sqrt(squares / (count - 1)) : 0,
          .min = times.front(),
          .max = times.back(),
          .p50 = Percentile(times, 50),
          .p90 = Percentile(times, 90),
          .p95 = Percentile(times, 95),
          .p99 = Percentile(times, 99)};
}

double MiddleMean(std::vector<double> times) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  const auto cut = static_cast<std::ptrdiff_t>(times.size() / 4);
  const auto count = static_cast<double>(times.size() - 2 * (times.size() / 4));
  return std::accumulate(times.begin() + cut, times.end() - cut, 0.0) / count;
}

}  // namespace larq_engine
