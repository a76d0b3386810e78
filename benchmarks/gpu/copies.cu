// Measures how long it takes to move data to a GPU and back: memcpy into pinned memory by 1 to 16
// threads, copies over PCIe from pinned and from ordinary memory, and pinning itself. Sizes are
// those of 1, 64 and 256 images of 224 x 224 x 3 floats. Prints a line of JSON for each; exits with
// 2 if there is no GPU.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "benchmarks/gpu/timing.h"

namespace {

using namespace larq_engine;

constexpr size_t kImage = size_t{224} * 224 * 3 * sizeof(float);
constexpr size_t kSizes[] = {kImage, 64 * kImage, 256 * kImage};
constexpr size_t kMost = 256 * kImage;

// Returns the time that the work takes by the host's clock.
template <class Work>
double HostSeconds(const Work& work) {
  return MedianSeconds([&] {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
}

void Print(const char* what, size_t bytes, int threads, double seconds) {
  std::printf(
      "{\"what\": \"%s\", \"bytes\": %zu, \"threads\": %d, \"median_s\": %.4g, "
      "\"bytes_per_s\": %.4g}\n",
      what, bytes, threads, seconds, static_cast<double>(bytes) / seconds);
  std::fflush(stdout);
}

// Copies with a part for each thread. The threads are started for each copy, which its time
// includes.
void CopyByThreads(std::byte* to, const std::byte* from, size_t bytes, int threads) {
  const size_t part = (bytes + threads - 1) / threads;
  const auto copy = [&](int i) {
    const size_t begin = std::min(i * part, bytes);
    std::memcpy(to + begin, from + begin, std::min(part, bytes - begin));
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(copy, i);
  copy(0);
  for (std::thread& other : others) other.join();
}

}  // namespace

int main() {
  std::byte *device, *pinned;
  CHECK(cudaMalloc(&device, kMost));
  CHECK(cudaMallocHost(&pinned, kMost));
  std::memset(pinned, 1, kMost);
  std::vector<std::byte> ordinary(kMost, std::byte{1});
  for (const size_t bytes : kSizes) {
    for (const int threads : {1, 2, 4, 8, 16}) {
      Print("memcpy into pinned memory", bytes, threads,
            HostSeconds([&] { CopyByThreads(pinned, ordinary.data(), bytes, threads); }));
    }
    const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
      return HostSeconds([&] { CHECK(cudaMemcpy(to, from, bytes, kind)); });
    };
    Print("pinned to GPU", bytes, 1, copy(device, pinned, cudaMemcpyHostToDevice));
    Print("GPU to pinned", bytes, 1, copy(pinned, device, cudaMemcpyDeviceToHost));
    Print("ordinary to GPU", bytes, 1, copy(device, ordinary.data(), cudaMemcpyHostToDevice));
    Print("pin and unpin", bytes, 1, HostSeconds([&] {
            CHECK(cudaHostRegister(ordinary.data(), bytes, cudaHostRegisterDefault));
            CHECK(cudaHostUnregister(ordinary.data()));
          }));
  }
  return 0;
}
