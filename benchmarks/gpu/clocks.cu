// Measures the clock that the chip really has while it multiplies bits, beside its maximum: cycles
// of a multiprocessor over nanoseconds of the GPU's timer, in kernels of 1 ms, 0.1 s and 1 s.
// Prints a line of JSON for each; exits with 2 if there is no GPU.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "benchmarks/gpu/loads.h"
#include "benchmarks/gpu/timing.h"

namespace {

using namespace larq_engine;
using namespace larq_engine::cuda;

constexpr int kThreads = 384;  // three warpgroups
constexpr int kN = 256;

struct Taken {
  uint64_t cycles;
  uint64_t nanoseconds;
};

__device__ uint64_t Nanoseconds() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}

template <bool kByWarpgroups>
__global__ void __launch_bounds__(kThreads) Load(int rounds, int* out, Taken* taken) {
  const uint64_t begin = Nanoseconds();
  const uint64_t first = clock64();
  if constexpr (kByWarpgroups) {
    MultiplyByWgmma<kN>(rounds, out);
  } else {
    MultiplyByMma(rounds, out);
  }
  __syncthreads();
  if (threadIdx.x == 0) taken[blockIdx.x] = {clock64() - first, Nanoseconds() - begin};
}

class Loaded {
 public:
  Loaded(const cudaDeviceProp& device)
      : blocks_(device.multiProcessorCount), is_hopper_(device.major == 9 && device.minor == 0) {
    CHECK(cudaMalloc(&out_, sizeof(int) * kThreads * blocks_));
    CHECK(cudaMalloc(&taken_, sizeof(Taken) * blocks_));
  }

  // Returns the cycles and nanoseconds that each multiprocessor took.
  std::vector<Taken> Run(int rounds) const {
    if (is_hopper_) {
      Load<true><<<blocks_, kThreads, WgmmaSharedBytes(kN)>>>(rounds, out_, taken_);
    } else {
      Load<false><<<blocks_, kThreads>>>(rounds, out_, taken_);
    }
    CHECK(cudaGetLastError());
    std::vector<Taken> taken(blocks_);
    CHECK(cudaMemcpy(taken.data(), taken_, sizeof(Taken) * blocks_, cudaMemcpyDeviceToHost));
    return taken;
  }

  double Pairs(int rounds) const {
    const double of_a_round =
        is_hopper_ ? kWgmmaPairs<kN> * kThreads / kWarpgroup : kMmaPairs * kThreads / 32;
    return of_a_round * rounds;
  }

 private:
  int blocks_;
  bool is_hopper_;
  int* out_;
  Taken* taken_;
};

Taken Median(std::vector<Taken> taken) {
  const auto middle = taken.begin() + taken.size() / 2;
  std::nth_element(taken.begin(), middle, taken.end(), [](const Taken& a, const Taken& b) {
    return a.cycles * double(b.nanoseconds) < b.cycles * double(a.nanoseconds);
  });
  return *middle;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  int maximum_khz = 0;
  CHECK(cudaDeviceGetAttribute(&maximum_khz, cudaDevAttrClockRate, 0));
  const Loaded loaded(device);

  constexpr int kTrial = 1024;
  loaded.Run(kTrial);  // the first one waits for its code
  const double of_a_round = Median(loaded.Run(kTrial)).nanoseconds * 1e-9 / kTrial;
  for (const double seconds : {1e-3, 0.1, 1.0}) {
    const int rounds = static_cast<int>(seconds / of_a_round);
    const Taken taken = Median(loaded.Run(rounds));
    std::printf(
        "{\"load_s\": %.4g, \"clock_ghz\": %.4f, \"maximum_ghz\": %.4f, "
        "\"pairs_of_a_clock_and_multiprocessor\": %.0f}\n",
        taken.nanoseconds * 1e-9, double(taken.cycles) / double(taken.nanoseconds),
        maximum_khz * 1e-6, loaded.Pairs(rounds) / double(taken.cycles));
    std::fflush(stdout);
  }
  return 0;
}
