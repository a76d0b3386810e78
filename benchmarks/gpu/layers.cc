// Times of binary convolutions on a GPU: each layer, batch, kind of output and row of the table, on
// buffers that take turns, so that the second cache does not hold them. A graph replays the
// launches. Values of each output are compared with the reference first, and a wrong one has no
// time.
//
//   layers [--layers=ABCD] [--batches=1,8,64,256] [--rows=auto|all] [--gpu=0]
//
// Prints a line of JSON for each; exits with 1 if a result was wrong, with 2 if there is no GPU.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/reference.h"
#include "larq_engine/runtime/cuda/cuda_memory.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// 3x3, stride 1, padded with +1: QuickNet's four sections.
struct Layer {
  char name;
  int64_t size;
  int64_t channels;
};
constexpr Layer kLayers[] = {{'A', 56, 64}, {'B', 28, 128}, {'C', 14, 256}, {'D', 7, 512}};

// Bits by thresholds; floats; a block of QuickNet: clamped, times, plus, plus the shortcut, written
// as floats and as the bits of the next layer.
constexpr const char* kOutputs[] = {"bits", "float", "fused"};

struct Settings {
  std::string layers = "ABCD";
  std::vector<int64_t> batches = {1, 8, 64, 256};
  bool all_rows = false;
  int gpu = 0;
};

constexpr size_t kBytesThatMiss = size_t{256} << 20;  // several times the second cache
constexpr int kLaunches = 64;                         // of a graph, at least
constexpr int kRepetitions = 7;
constexpr int64_t kPixelsChecked = 64;

std::vector<uint32_t> RandomWords(std::mt19937_64& random, size_t count) {
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  return words;
}

std::vector<float> RandomFloats(std::mt19937_64& random, size_t count) {
  std::vector<float> values(count);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : values) value = uniform(random);
  return values;
}

// Memory of the device that is freed at the end.
class Buffers {
 public:
  explicit Buffers(CudaMemory& memory) : memory_(memory) {}
  ~Buffers() {
    memory_.Wait();
    for (std::byte* block : blocks_) memory_.Free(block);
  }

  template <typename T>
  T* Allocate(size_t count) {
    blocks_.push_back(memory_.Allocate(count * sizeof(T)));
    return reinterpret_cast<T*>(blocks_.back());
  }
  template <typename T>
  T* Hold(const std::vector<T>& values) {
    T* data = Allocate<T>(values.size());
    memory_.CopyIn(reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T),
                   reinterpret_cast<std::byte*>(data));
    return data;
  }

 private:
  CudaMemory& memory_;
  std::vector<std::byte*> blocks_;
};

// A layer with its operands here, and on the device in as many copies as miss the cache.
class Problem {
 public:
  Problem(const Layer& layer, int64_t batch, std::string_view output, CudaMemory& memory)
      : batch_(batch), output_(output), memory_(memory), buffers_(memory) {
    std::mt19937_64 random(static_cast<uint64_t>(layer.name) * 1000 + static_cast<uint64_t>(batch));
    spec_ = {.in_channels = layer.channels,
             .out_channels = layer.channels,
             .filter_height = 3,
             .filter_width = 3,
             .pad_height = {.same = true},
             .pad_width = {.same = true}};
    size_ = layer.size;
    const auto channels = static_cast<size_t>(layer.channels);
    pixels_ = static_cast<size_t>(batch * size_ * size_);
    image_ = RandomWords(random, pixels_ * channels / kWordBits);
    filter_ = RandomWords(random, channels * 9 * channels / kWordBits);
    const std::vector<float> multiplier = RandomFloats(random, channels);
    const std::vector<float> bias = RandomFloats(random, channels);
    if (output_ == "bits") {
      std::vector<int32_t> threshold(channels, static_cast<int32_t>(spec_.depth() / 2));
      transform_ = MakeBitsTransform(threshold.data(), channels, spec_.depth());
    } else {
      const Activation activation = output_ == "fused" ? Activation::kRelu : Activation::kNone;
      transform_ = MakeFloatTransform(activation, multiplier.data(), bias.data(), channels);
    }
    if (output_ == "fused") shortcut_ = RandomFloats(random, pixels_ * channels);
    MakeArgs();
  }

  const std::vector<cuda::Bconv2dArgs>& args() const { return args_; }
  double products() const {
    return static_cast<double>(pixels_) * static_cast<double>(spec_.out_channels) *
           static_cast<double>(spec_.depth());
  }
  // That a launch must at least read and write.
  double bytes() const { return static_cast<double>(bytes_); }

  // Pixels of all outputs of the first copy.
  bool IsRight() const {
    const auto channels = static_cast<size_t>(spec_.out_channels);
    const size_t words = channels / kWordBits;
    const auto step = std::max<int64_t>(static_cast<int64_t>(pixels_) / kPixelsChecked, 1);
    std::vector<std::byte> expected(transform_.PixelBytes(channels));
    std::vector<float> floats(channels);
    std::vector<uint32_t> bits(words);
    for (int64_t pixel = 0; pixel < static_cast<int64_t>(pixels_); pixel += step) {
      ReferenceBconv2d(spec_, transform_, size_, size_, image_.data(), filter_.data(), pixel,
                       pixel + 1, expected.data());
      const auto at = static_cast<size_t>(pixel);
      if (output_ == "bits") {
        Fetch(args_[0].output.bits + at * words, bits);
        if (std::memcmp(bits.data(), expected.data(), expected.size()) != 0) return false;
        continue;
      }
      std::vector<float> wanted(channels);
      std::memcpy(wanted.data(), expected.data(), expected.size());
      if (output_ == "fused") {
        for (size_t c = 0; c < channels; ++c) wanted[c] += shortcut_[at * channels + c];
        std::vector<uint32_t> wanted_bits(words);
        for (size_t c = 0; c < channels; ++c) {
          if (wanted[c] < 0) wanted_bits[c / kWordBits] |= kBit[c % kWordBits];
        }
        Fetch(args_[0].output.after.bits + at * words, bits);
        if (bits != wanted_bits) return false;
      }
      Fetch(stored_ + at * channels, floats);
      if (std::memcmp(floats.data(), wanted.data(), channels * sizeof(float)) != 0) return false;
    }
    return true;
  }

 private:
  template <typename T>
  void Fetch(const T* device, std::vector<T>& values) const {
    memory_.CopyOut(reinterpret_cast<const std::byte*>(device), values.size() * sizeof(T),
                    reinterpret_cast<std::byte*>(values.data()));
  }

  void MakeArgs() {
    const auto channels = static_cast<size_t>(spec_.out_channels);
    const size_t row = RoundUp(9 * channels / kWordBits, 16);
    std::vector<uint32_t> filter(channels * row);
    std::vector<int32_t> ones(channels);
    for (size_t n = 0; n < channels; ++n) {
      for (size_t w = 0; w < 9 * channels / kWordBits; ++w) {
        const uint32_t word = filter_[n * 9 * channels / kWordBits + w];
        filter[n * row + w] = word;
        ones[n] += std::popcount(word);
      }
    }
    cuda::Bconv2dArgs args{};
    const auto small = [](auto value) { return static_cast<int32_t>(value); };
    args.filter = buffers_.Hold(filter);
    args.filter_ones = buffers_.Hold(ones);
    args.pad_value = 1;
    args.batch = small(batch_);
    args.in_height = args.in_width = args.out_height = args.out_width = small(size_);
    args.out_channels = args.group_in_channels = args.group_out_channels = small(channels);
    args.pixel_words = args.tap_words = small(channels / kWordBits);
    args.filter_words = small(row);
    args.filter_height = args.filter_width = 3;
    args.stride_height = args.stride_width = args.dilation_height = args.dilation_width = 1;
    args.pad_top = args.pad_left = 1;
    args.output.dot_min = transform_.range.min;
    args.output.dot_max = transform_.range.max;
    if (output_ == "bits") {
      args.output.kind = cuda::Bconv2dOutput::kBits;
      args.output.dot_limit = buffers_.Hold(transform_.dot_limit);
    } else {
      args.output.kind = cuda::Bconv2dOutput::kFloat;
      args.output.multiplier = buffers_.Hold(transform_.multiplier);
      args.output.bias = buffers_.Hold(transform_.bias);
    }
    const size_t bits_bytes = pixels_ * channels / 8;
    const size_t float_bytes = pixels_ * channels * sizeof(float);
    bytes_ = bits_bytes + filter_.size() * sizeof(uint32_t);
    bytes_ += output_ == "bits" ? bits_bytes : float_bytes;
    if (output_ == "fused") bytes_ += float_bytes + bits_bytes;
    const size_t copies = std::clamp<size_t>(kBytesThatMiss / bytes_, 1, kLaunches);
    for (size_t i = 0; i < copies; ++i) args_.push_back(WithBuffers(args, i == 0));
  }

  cuda::Bconv2dArgs WithBuffers(cuda::Bconv2dArgs args, bool is_first) {
    const size_t values = pixels_ * static_cast<size_t>(spec_.out_channels);
    args.image = buffers_.Hold(image_);
    if (output_ == "bits") {
      args.output.bits = buffers_.Allocate<uint32_t>(values / kWordBits);
      return args;
    }
    cuda::PixelProgram& program = args.output.after;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (output_ == "fused") {
      program.steps[program.count++] = {.kind = cuda::PixelStep::kAddTensor,
                                        .min = -kInfinity,
                                        .max = kInfinity,
                                        .values = buffers_.Hold(shortcut_),
                                        .out = nullptr};
      program.bits = buffers_.Allocate<uint32_t>(values / kWordBits);
    }
    float* out = buffers_.Allocate<float>(values);
    if (is_first) stored_ = out;
    program.steps[program.count++] = {
        .kind = cuda::PixelStep::kStore, .min = 0, .max = 0, .values = nullptr, .out = out};
    return args;
  }

  int64_t batch_;
  std::string output_;
  CudaMemory& memory_;
  Buffers buffers_;
  Bconv2dSpec spec_;
  int64_t size_ = 0;
  size_t pixels_ = 0;
  size_t bytes_ = 0;
  std::vector<uint32_t> image_;
  std::vector<uint32_t> filter_;
  std::vector<float> shortcut_;
  OutputTransform transform_;
  std::vector<cuda::Bconv2dArgs> args_;
  float* stored_ = nullptr;  // of the first copy
};

// The least of several medians' worth: of one launch, in a graph of many.
std::vector<double> TimesOf(const CudaQueue& queue, const cuda::Bconv2dRow& row,
                            const std::vector<cuda::Bconv2dArgs>& copies) {
  const CudaDriver& driver = queue.driver();
  driver.Call(driver.cuStreamBeginCapture, queue.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  for (int i = 0; i < kLaunches; ++i) {
    const cuda::Bconv2dArgs& args = copies[static_cast<size_t>(i) % copies.size()];
    queue.Add(Launch::Of(row.kernel, row.size(args), args));
  }
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  driver.Call(driver.cuStreamEndCapture, queue.stream(), &graph);
  driver.Call(driver.cuGraphInstantiateWithFlags, &exec, graph, 0);
  const CudaEvent begin(driver, CU_EVENT_DEFAULT);
  const CudaEvent end(driver, CU_EVENT_DEFAULT);
  std::vector<double> times;
  for (int i = 0; i < kRepetitions + 1; ++i) {
    driver.Call(driver.cuEventRecord, begin.get(), queue.stream());
    driver.Call(driver.cuGraphLaunch, exec, queue.stream());
    driver.Call(driver.cuEventRecord, end.get(), queue.stream());
    queue.Wait();
    float milliseconds = 0;
    driver.Call(driver.cuEventElapsedTime, &milliseconds, begin.get(), end.get());
    if (i > 0) times.push_back(static_cast<double>(milliseconds) * 1e-3 / kLaunches);
  }
  driver.Call(driver.cuGraphExecDestroy, exec);
  driver.Call(driver.cuGraphDestroy, graph);
  std::sort(times.begin(), times.end());
  return times;
}

// False if the result is wrong.
bool Measure(const CudaQueue& queue, const cuda::Bconv2dRow& row, const Problem& problem,
             const std::string& what) {
  const cuda::Bconv2dArgs& args = problem.args()[0];
  queue.Add(Launch::Of(row.kernel, row.size(args), args));
  queue.Wait();
  const char* name = cuda::RowOf(row.kernel).name;
  if (!problem.IsRight()) {
    std::printf("{%s, \"row\": \"%s\", \"wrong\": true}\n", what.c_str(), name);
    return false;
  }
  const std::vector<double> times = TimesOf(queue, row, problem.args());
  std::printf(
      "{%s, \"row\": \"%s\", \"median_s\": %.4g, \"quartiles_s\": [%.4g, %.4g], \"products\": "
      "%.6g, "
      "\"bytes\": %.6g}\n",
      what.c_str(), name, times[times.size() / 2], times[times.size() / 4],
      times[times.size() * 3 / 4], problem.products(), problem.bytes());
  std::fflush(stdout);
  return true;
}

bool MeasureAll(const Settings& settings, CudaQueue& queue, CudaMemory& memory) {
  bool all_right = true;
  const cuda::Chip& chip = queue.device().chip();
  for (const Layer& layer : kLayers) {
    if (settings.layers.find(layer.name) == std::string::npos) continue;
    for (const int64_t batch : settings.batches) {
      for (const char* output : kOutputs) {
        const Problem problem(layer, batch, output, memory);
        const std::string what = std::string("\"layer\": \"") + layer.name +
                                 "\", \"batch\": " + std::to_string(batch) + ", \"output\": \"" +
                                 output + "\"";
        for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
          const auto choice = cuda::SelectBconv2d(
              problem.args()[0], chip,
              settings.all_rows ? cuda::RowOf(row.kernel).name : cuda::kAutoRow);
          if (choice.row != &row) continue;
          all_right = Measure(queue, row, problem, what) && all_right;
        }
      }
    }
  }
  return all_right;
}

Settings ParseFlags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::string value(flag.substr(std::min(flag.size(), flag.find('=') + 1)));
    if (flag.starts_with("--layers=")) {
      settings.layers = value;
    } else if (flag.starts_with("--batches=")) {
      settings.batches.clear();
      for (const char* at = value.c_str(); *at != 0; at += *at == ',') {
        char* end = nullptr;
        settings.batches.push_back(std::max(1L, std::strtol(at, &end, 10)));
        if (end == at) std::exit(3);
        at = end;
      }
    } else if (flag == "--rows=all") {
      settings.all_rows = true;
    } else if (flag.starts_with("--gpu=")) {
      settings.gpu = std::atoi(value.c_str());
    } else if (flag != "--rows=auto") {
      std::fprintf(stderr, "layers: unknown flag %s\n", argv[i]);
      std::exit(3);
    }
  }
  return settings;
}

}  // namespace
}  // namespace larq_engine

int main(int argc, char** argv) {
  using namespace larq_engine;
  const Settings settings = ParseFlags(argc, argv);
  try {
    const std::shared_ptr<CudaDevice> device = OpenCudaDevice(settings.gpu);
    CudaQueue queue(device);
    CudaMemory memory(queue);
    const CudaDevice::Current current(*device);
    return MeasureAll(settings, queue, memory) ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("{\"error\": \"%s\"}\n", e.what());
    return 2;
  }
}
