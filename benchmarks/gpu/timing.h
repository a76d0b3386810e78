// Functions that call CUDA and take times. A call that fails ends the program with status 2.
#ifndef LARQ_ENGINE_BENCHMARKS_GPU_TIMING_H_
#define LARQ_ENGINE_BENCHMARKS_GPU_TIMING_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace larq_engine {

inline void Check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", call, cudaGetErrorString(error));
  std::exit(2);
}
#define CHECK(call) ::larq_engine::Check((call), #call)

// Calls `once` 9 times, which returns seconds. Returns the median of the last 7.
template <class Once>
double MedianSeconds(const Once& once) {
  std::vector<double> all;
  for (int i = 0; i < 9; ++i) {
    const double seconds = once();
    if (i > 1) all.push_back(seconds);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Returns the seconds that the work takes on the GPU.
template <class Work>
double Seconds(cudaStream_t stream, const Work& work) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  return MedianSeconds([&] {
    float milliseconds = 0;
    CHECK(cudaEventRecord(begin, stream));
    work();
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1e-3;
  });
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARKS_GPU_TIMING_H_
