// Measures the engine's copies to a GPU and back, with one thread of the host and with several,
// since the bytes of a large input go through pinned memory (runtime/cuda/cuda_memory.h).
//
//   host_copies [--bytes=154140672] [--threads=1,2] [--rounds=5] [--gpu=0]
//
// The default of --bytes is the size of 256 images of 224 x 224 x 3 floats. Prints a line of JSON
// for each number of threads, with the best of the rounds, in which they take turns: `in` and `out`
// are whole copies, `staging` is the part that the threads copy within the host's memory, piece by
// piece. Exits with 1 if other bytes came back, with 2 if there is no GPU.
//
// With the driver of tests/cuda/fake_driver in the place of NVIDIA's, it runs without a GPU. That
// driver copies by memcpy, in the thread that waits for the copy, so only `staging` means anything
// then.
#include "larq_engine/runtime/cuda/host_copies.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/runtime/cuda/cuda_memory.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"

namespace larq_engine {
namespace {

struct Settings {
  size_t bytes = size_t{256} * 224 * 224 * 3 * sizeof(float);
  std::vector<int> threads = {1, 2};
  int rounds = 5;
  int gpu = 0;
};

constexpr size_t kPieceBytes = 4 << 20;

template <typename Work>
double Seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Measured {
  double in = 1e9;
  double out = 1e9;
  double staging = 1e9;
};

// Takes the times of a round, and keeps the best ones. Returns false if other bytes came back.
bool Measure(const std::vector<std::byte>& data, const CudaQueue& queue, int threads,
             Measured& best) {
  CudaMemory memory(queue, threads);
  HostCopies copies(threads, kDefaultSpin);
  const DeviceBuffer buffer(memory, MemoryUse::kActivations, data.size());
  memory.ReserveStaging(data.size());
  copies.Reserve(kPieceBytes);
  std::vector<std::byte> back(data.size());
  const auto keep = [](double& seconds, double found) { seconds = std::min(seconds, found); };
  keep(best.in, Seconds([&] {
         memory.CopyIn(data.data(), data.size(), buffer.data());
         memory.Wait();
       }));
  keep(best.out, Seconds([&] { memory.CopyOut(buffer.data(), data.size(), back.data()); }));
  const bool is_right = back == data;
  std::vector<std::byte> piece(kPieceBytes);
  keep(best.staging, Seconds([&] {
         for (size_t begin = 0; begin < data.size(); begin += piece.size()) {
           copies.Copy(data.data() + begin, std::min(piece.size(), data.size() - begin),
                       piece.data());
         }
       }));
  return is_right;
}

std::vector<int> ParseInts(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    numbers.push_back(std::atoi(std::string(text.substr(0, end)).c_str()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

Settings ParseFlags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&](std::string_view name) -> const char* {
      return flag.starts_with(name) ? argv[i] + name.size() : nullptr;
    };
    if (const char* bytes = value("--bytes=")) {
      settings.bytes = std::strtoull(bytes, nullptr, 10);
    } else if (const char* threads = value("--threads=")) {
      settings.threads = ParseInts(threads);
    } else if (const char* rounds = value("--rounds=")) {
      settings.rounds = std::atoi(rounds);
    } else if (const char* gpu = value("--gpu=")) {
      settings.gpu = std::atoi(gpu);
    } else {
      std::fprintf(stderr, "host_copies: unknown flag %s\n", argv[i]);
      std::exit(3);
    }
  }
  return settings;
}

int Main(const Settings& settings) {
  const CudaQueue queue(OpenCudaDevice(settings.gpu));
  std::vector<std::byte> data(settings.bytes);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 >> i % 3);
  std::vector<Measured> best(settings.threads.size());
  for (int round = 0; round < settings.rounds; ++round) {
    for (size_t i = 0; i < best.size(); ++i) {
      if (!Measure(data, queue, settings.threads[i], best[i])) {
        std::printf("{\"error\": \"other bytes came back\"}\n");
        return 1;
      }
    }
  }
  const auto rate = [&](double seconds) { return static_cast<double>(data.size()) / seconds; };
  for (size_t i = 0; i < best.size(); ++i) {
    std::printf(
        "{\"bytes\": %zu, \"threads\": %d, \"in_bytes_per_s\": %.4g, \"out_bytes_per_s\": %.4g, "
        "\"staging_bytes_per_s\": %.4g}\n",
        data.size(), settings.threads[i], rate(best[i].in), rate(best[i].out),
        rate(best[i].staging));
  }
  return 0;
}

}  // namespace
}  // namespace larq_engine

int main(int argc, char** argv) {
  using namespace larq_engine;
  const Settings settings = ParseFlags(argc, argv);
  try {
    return Main(settings);
  } catch (const std::exception& e) {
    std::printf("{\"error\": \"%s\"}\n", e.what());
    return 2;
  }
}
