// Checks every row of the table on a GPU with random layers of any kind, against the reference.
// Words behind every output must stay as they are.
//
//   rows_check [--layers=300] [--seed=1] [--row=NAME] [--gpu=0]
//
// Prints what it computes, and a line of JSON for each row at the end. If a kernel fails or never
// ends, the last line tells which one. Exits with 1 if a result was wrong, with 2 if there is no
// GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "larq_engine/runtime/cuda/cuda_memory.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "tests/kernels/cuda/bconv2d_case.h"

namespace larq_engine::testing {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr unsigned char kGuard = 0xa7;

class GpuDevice : public CaseDevice {
 public:
  GpuDevice(const CudaQueue& queue, CudaMemory& memory) : queue_(queue), memory_(memory) {}
  ~GpuDevice() override {
    memory_.Wait();
    for (std::byte* block : blocks_) memory_.Free(block);
  }

  const void* Hold(std::span<const unsigned char> bytes) override {
    blocks_.push_back(memory_.Allocate(bytes.size()));
    memory_.CopyIn(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), blocks_.back());
    return blocks_.back();
  }
  unsigned char* Output(size_t bytes) override {
    std::vector<unsigned char> rubbish(bytes, 0xcd);
    rubbish.resize(bytes + kGuardBytes, kGuard);
    return static_cast<unsigned char*>(const_cast<void*>(Hold(rubbish)));
  }
  void Launch(const cuda::Bconv2dRow& row, const cuda::Bconv2dArgs& args) override {
    queue_.Add(larq_engine::Launch::Of(row, queue_.device().chip(), args));
  }
  std::vector<unsigned char> Read(const unsigned char* output, size_t bytes) override {
    std::vector<unsigned char> result(bytes + kGuardBytes);
    memory_.CopyOut(reinterpret_cast<const std::byte*>(output), result.size(),
                    reinterpret_cast<std::byte*>(result.data()));
    if (std::count(result.begin() + static_cast<std::ptrdiff_t>(bytes), result.end(), kGuard) !=
        kGuardBytes) {
      throw OpError("a kernel wrote behind the end of an output");
    }
    result.resize(bytes);
    return result;
  }

 private:
  const CudaQueue& queue_;
  CudaMemory& memory_;
  std::vector<std::byte*> blocks_;
};

struct Settings {
  uint64_t layers = 300;
  uint64_t seed = 1;
  std::string_view row;  // all rows if empty
  int gpu = 0;
};

// Returns the number of rows that computed something wrong.
int CheckRows(const CudaQueue& queue, CudaMemory& memory, const Settings& settings) {
  std::mt19937_64 random(settings.seed);
  std::map<std::string_view, uint64_t> right;
  std::map<std::string_view, std::string> wrong;
  for (uint64_t i = 0; i < settings.layers; ++i) {
    const GpuLayer layer = RandomLayer(random);
    const GpuCase gpu_case(layer, random);
    for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
      const std::string_view name = cuda::RowOf(row.kernel).name;
      const auto choice = cuda::SelectBconv2d(ShapeOf(layer), queue.device().chip(), name);
      if (choice.row == nullptr || wrong.contains(name)) continue;
      if (!settings.row.empty() && settings.row != name) continue;
      std::printf("layer %llu, %s\n", static_cast<unsigned long long>(i),
                  cuda::RowOf(row.kernel).name);
      GpuDevice device(queue, memory);
      const std::string difference = gpu_case.Run(row, device);
      if (difference.empty()) {
        ++right[name];
      } else {
        wrong[name] = difference;
      }
    }
  }
  if (right.empty() && wrong.empty()) throw OpError("there was nothing to check");
  for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
    const char* name = cuda::RowOf(row.kernel).name;
    std::printf("{\"row\": \"%s\", \"layers_right\": %llu, \"wrong\": \"%s\"}\n", name,
                static_cast<unsigned long long>(right[name]), wrong[name].c_str());
  }
  return static_cast<int>(std::count_if(wrong.begin(), wrong.end(),
                                        [](const auto& row) { return !row.second.empty(); }));
}

Settings ParseFlags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const char* value = argv[i] + std::min(flag.size(), flag.find('=') + 1);
    if (flag.starts_with("--layers=")) {
      settings.layers = std::strtoull(value, nullptr, 10);
    } else if (flag.starts_with("--seed=")) {
      settings.seed = std::strtoull(value, nullptr, 10);
    } else if (flag.starts_with("--row=")) {
      settings.row = value;
    } else if (flag.starts_with("--gpu=")) {
      settings.gpu = std::atoi(value);
    } else {
      std::fprintf(stderr, "rows_check: unknown flag %s\n", argv[i]);
      std::exit(3);
    }
  }
  return settings;
}

int Main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Settings settings = ParseFlags(argc, argv);
  try {
    const auto device = OpenCudaDevice(settings.gpu);
    const CudaQueue queue(device);
    CudaMemory memory(queue);
    const CudaDevice::Current current(*device);
    return CheckRows(queue, memory, settings) != 0;
  } catch (const std::exception& e) {
    std::printf("{\"error\": \"%s\"}\n", e.what());
    return 2;
  }
}

}  // namespace
}  // namespace larq_engine::testing

int main(int argc, char** argv) { return larq_engine::testing::Main(argc, argv); }
