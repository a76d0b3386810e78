// What it takes to send a cache line from one core to another and back:
//
//   cores_bench
//
// For each two of the first cores that the process may use: nanoseconds, the median of eleven looks
// over a second, and the range. Cores that share an L3 take some 70 on a Zen 4, others some 350. A
// virtual machine may be moved from the ones to the others, so look before and after other figures
// of several threads.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace larq_engine::benchmarks {
namespace {

constexpr size_t kMostCores = 8;
constexpr int kLooks = 11;
constexpr useconds_t kBetweenLooks = 100'000;
constexpr int kTrips = 50'000;

std::vector<int> UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < kMostCores; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void StayOn(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof(set), &set) == 0) return;
  std::fprintf(stderr, "cores_bench: expected to run on core %d, got: %m\n", core);
  std::exit(1);
}

double NanosecondsOfATrip(int one, int other) {
  alignas(64) std::atomic<int> line{0};
  std::thread answering([&] {
    StayOn(other);
    for (int trip = 0; trip < kTrips; ++trip) {
      while (line.load() != 2 * trip + 1) {
      }
      line.store(2 * trip + 2);
    }
  });
  double nanoseconds = 0;
  std::thread asking([&] {
    StayOn(one);
    const auto start = std::chrono::steady_clock::now();
    for (int trip = 0; trip < kTrips; ++trip) {
      line.store(2 * trip + 1);
      while (line.load() != 2 * trip + 2) {
      }
    }
    nanoseconds =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  });
  asking.join();
  answering.join();
  return nanoseconds / kTrips;
}

int Main() {
  const std::vector<int> cores = UsableCores();
  if (cores.size() < 2) {
    std::fprintf(stderr, "cores_bench: expected two cores or more, got %zu\n", cores.size());
    return 1;
  }
  std::puts("cores    ns there and back   from    to");
  for (size_t i = 0; i < cores.size(); ++i) {
    for (size_t j = i + 1; j < cores.size(); ++j) {
      std::vector<double> looks;
      for (int look = 0; look < kLooks; ++look) {
        usleep(kBetweenLooks);
        looks.push_back(NanosecondsOfATrip(cores[i], cores[j]));
      }
      std::sort(looks.begin(), looks.end());
      std::printf("%3d %3d  %17.0f  %5.0f %5.0f\n", cores[i], cores[j], looks[kLooks / 2],
                  looks.front(), looks.back());
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main() { return larq_engine::benchmarks::Main(); }
