// Measures binary convolutions on a GPU: each layer, batch, kind of output and row of the table, on
// buffers that take turns, so that the L2 cache does not hold them. A graph replays the launches as
// the engine does. Each launch may begin while the one before it runs (`launches` is "early"), if
// the device can do that and LARQ_ENGINE_EARLY_LAUNCHES is not "off" (else "in turn"). First, all
// outputs are compared with those of the plainest row, some pixels of which are compared with the
// reference. A row with a wrong result gets no time.
//
//   layers [--layers=ABCD] [--batches=1,8,64,256] [--rows=auto|all|NAME,NAME...] [--gpu=0]
//   layers --products=1024,8192 [--rows=...] [--gpu=0]
//
// The second form measures products of square matrices of bits, as dense layers. Prints a line of
// JSON for each; exits with 1 if a result was wrong, with 2 if there is no GPU.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/bconv2d_epilogues.h"
#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/layers/reference.h"
#include "larq_engine/runtime/cuda/bconv2d_operands.h"
#include "larq_engine/runtime/cuda/cuda_memory.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/cuda/timed_launches.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// A convolution with stride 1, padded with +1.
struct Layer {
  int64_t size;
  int64_t channels;  // in and out
  int64_t filter;    // its height and width
};

// The layers of QuickNet's four sections.
struct NamedLayer {
  char name;
  Layer layer;
};
constexpr NamedLayer kLayers[] = {
    {'A', {56, 64, 3}}, {'B', {28, 128, 3}}, {'C', {14, 256, 3}}, {'D', {7, 512, 3}}};

// The kinds of output: "bits" by thresholds; "float"; and "fused", a block of QuickNet: clamped,
// times a multiplier, plus a bias, plus the shortcut, written as floats and as the bits of the next
// layer.
constexpr const char* kOutputs[] = {"bits", "float", "fused"};

// A product of square matrices is a dense layer.
constexpr const char* kOutputsOfProducts[] = {"bits", "float"};

struct Settings {
  std::string layers = "ABCD";
  std::vector<int64_t> batches = {1, 8, 64, 256};
  std::vector<int64_t> products;             // instead of layers
  std::vector<std::string> rows = {"auto"};  // names; "auto" is the engine's choice
  int gpu = 0;
};

constexpr size_t kBytesThatMiss = size_t{256} << 20;  // several times the L2 cache
constexpr int kLaunches = 64;                         // the most that a graph has
constexpr double kProducts = 4e12;  // that a graph computes, if one launch has no more
constexpr int kRepetitions = 7;
constexpr double kProductsChecked = 2e9;  // by the CPU, which computes 2e8 a second
constexpr int64_t kPixelsChecked = 64;    // the most that the CPU checks
constexpr size_t kPieceBytes = size_t{16} << 20;

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

// Blocks of the device's memory, which are freed at the end.
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

// A layer with its operands on the host, and on the device in as many copies as it takes to miss
// the cache.
class Problem {
 public:
  Problem(const Layer& layer, int64_t batch, std::string_view output, CudaMemory& memory)
      : batch_(batch), output_(output), memory_(memory), buffers_(memory) {
    std::mt19937_64 random(static_cast<uint64_t>(layer.channels * 1000 + batch));
    spec_ = {.in_channels = layer.channels,
             .out_channels = layer.channels,
             .window = SquareWindow({.taps = layer.filter, .padding = {.same = true}})};
    size_ = layer.size;
    const auto channels = static_cast<size_t>(layer.channels);
    pixels_ = static_cast<size_t>(batch * size_ * size_);
    image_ = RandomWords(random, pixels_ * channels / kWordBits);
    filter_ = RandomWords(random,
                          channels * static_cast<size_t>(spec_.window.taps()) * spec_.tap_words());
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
    MakeAllExpected();
    MakeArgs();
  }

  const std::vector<cuda::Bconv2dArgs>& args() const { return args_; }
  double products() const {
    return static_cast<double>(pixels_) * static_cast<double>(spec_.out_channels) *
           static_cast<double>(spec_.depth());
  }
  // Returns the bytes that a launch must at least read and write.
  double bytes() const { return static_cast<double>(bytes_); }

  // Overwrites the outputs of the first copy, so that those of one row are not taken for those of
  // the next.
  void Poison() const {
    const std::vector<std::byte> rubbish(kPieceBytes, std::byte{0xa5});
    ForEachPiece([&](std::byte* device, size_t bytes) {
      memory_.CopyIn(rubbish.data(), bytes, device);
      return true;
    });
  }

  // Returns all outputs of the first copy.
  std::vector<std::byte> Outputs() const {
    std::vector<std::byte> all;
    ForEachPiece([&](const std::byte* device, size_t bytes) {
      all.resize(all.size() + bytes);
      memory_.CopyOut(device, bytes, all.data() + all.size() - bytes);
      return true;
    });
    return all;
  }

  bool HasOutputs(const std::vector<std::byte>& expected) const {
    std::vector<std::byte> piece(kPieceBytes);
    size_t at = 0;
    return ForEachPiece([&](const std::byte* device, size_t bytes) {
      memory_.CopyOut(device, bytes, piece.data());
      at += bytes;
      return std::memcmp(piece.data(), expected.data() + at - bytes, bytes) == 0;
    });
  }

  // Tells whether the checked pixels of the first copy's outputs are what the reference makes.
  bool HasExpectedPixels() const {
    const auto channels = static_cast<size_t>(spec_.out_channels);
    std::vector<float> floats(channels);
    std::vector<uint32_t> bits(channels / kWordBits);
    for (const Expected& expected : expected_) {
      if (!expected.bits.empty()) {
        const uint32_t* out = output_ == "bits" ? args_[0].output.bits : args_[0].output.after.bits;
        Fetch(out + expected.pixel * bits.size(), bits);
        if (bits != expected.bits) return false;
      }
      if (expected.floats.empty()) continue;
      Fetch(stored_ + expected.pixel * channels, floats);
      if (std::memcmp(floats.data(), expected.floats.data(), channels * sizeof(float)) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  // Calls `visit` for pieces of all outputs of the first copy, until it returns false.
  template <typename Visit>
  bool ForEachPiece(const Visit& visit) const {
    const size_t values = pixels_ * static_cast<size_t>(spec_.out_channels);
    const auto each = [&](auto* output, size_t bytes) {
      auto* const device = reinterpret_cast<std::byte*>(output);
      for (size_t at = 0; device != nullptr && at < bytes; at += kPieceBytes) {
        if (!visit(device + at, std::min(kPieceBytes, bytes - at))) return false;
      }
      return true;
    };
    return each(args_[0].output.bits, values / 8) && each(args_[0].output.after.bits, values / 8) &&
           each(stored_, values * sizeof(float));
  }

  template <typename T>
  void Fetch(const T* device, std::vector<T>& values) const {
    memory_.CopyOut(reinterpret_cast<const std::byte*>(device), values.size() * sizeof(T),
                    reinterpret_cast<std::byte*>(values.data()));
  }

  // A pixel's outputs, as the reference makes them.
  struct Expected {
    size_t pixel;
    std::vector<uint32_t> bits;
    std::vector<float> floats;
  };

  Expected MakeExpected(int64_t pixel) const {
    const auto channels = static_cast<size_t>(spec_.out_channels);
    Expected expected{static_cast<size_t>(pixel), {}, {}};
    const auto compute = [&](void* out) {
      ReferenceBconv2d(spec_, transform_, size_, size_, image_.data(), filter_.data(), pixel,
                       pixel + 1, out);
    };
    if (output_ == "bits") {
      expected.bits.resize(channels / kWordBits);
      compute(expected.bits.data());
      return expected;
    }
    expected.floats.resize(channels);
    compute(expected.floats.data());
    if (output_ != "fused") return expected;
    expected.bits.resize(channels / kWordBits);
    for (size_t c = 0; c < channels; ++c) {
      expected.floats[c] += shortcut_[expected.pixel * channels + c];
      if (expected.floats[c] < 0) expected.bits[c / kWordBits] |= kBit[c % kWordBits];
    }
    return expected;
  }

  // Computes the expected outputs of as many pixels as the CPU can compute in a few seconds, on all
  // its cores.
  void MakeAllExpected() {
    const auto pixels = static_cast<int64_t>(pixels_);
    const auto some =
        static_cast<int64_t>(kProductsChecked / products() * static_cast<double>(pixels));
    const int64_t checked = std::min(std::clamp<int64_t>(some, 8, kPixelsChecked), pixels);
    const int64_t step = pixels / checked;
    expected_.resize(static_cast<size_t>(checked));
    std::atomic<int64_t> next = 0;
    const auto work = [&] {
      for (int64_t i = next++; i < checked; i = next++) {
        // The position within the tile varies from pixel to pixel.
        expected_[static_cast<size_t>(i)] = MakeExpected(i * step + i * 37 % step);
      }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
  }

  void MakeArgs() {
    const auto channels = static_cast<size_t>(spec_.out_channels);
    const auto small = [](auto value) { return static_cast<int>(value); };
    cuda::Bconv2dArgs args =
        MakeGeometry(spec_, {small(batch_), small(size_), small(size_), small(channels)});
    args.filter = buffers_.Hold(PadFilter(spec_, filter_.data()));
    const std::vector<int32_t> filter_ones = FilterOnes(spec_, filter_.data());
    args.filter_ones = buffers_.Hold(filter_ones);
    args.output.zero_dot = buffers_.Hold(ZeroDots(spec_, filter_ones));
    args.output.dot_min = transform_.range.min;
    args.output.dot_max = transform_.range.max;
    if (output_ == "bits") {
      args.output.kind = cuda::Bconv2dOutput::kBits;
      args.output.dot_limit = buffers_.Hold(transform_.dot_limit);
      args.output.excess_limit =
          buffers_.Hold(ExcessLimits(spec_, transform_.dot_limit, filter_ones));
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
    for (size_t i = 0; i < copies; ++i) {
      args_.push_back(cuda::WithEpilogue(WithBuffers(args, i == 0)));
    }
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
  std::vector<Expected> expected_;
  std::vector<cuda::Bconv2dArgs> args_;
  float* stored_ = nullptr;  // the first copy's floats
};

// A graph of a row's launches on the copies of a problem.
class Candidate {
 public:
  Candidate(const CudaQueue& queue, const cuda::Bconv2dRow& row, const Problem& problem)
      : row_(row),
        launches_(
            static_cast<int>(std::clamp(kProducts / problem.products(), 1.0, double{kLaunches}))) {
    std::vector<Launch> launches;
    for (int i = 0; i < launches_; ++i) {
      const cuda::Bconv2dArgs& args =
          problem.args()[static_cast<size_t>(i) % problem.args().size()];
      launches.push_back(Launch::Of(row, queue.device().chip(), args));
    }
    timed_ = std::make_unique<TimedLaunches>(queue, launches);
  }

  // Runs the graph, and returns the seconds of one launch.
  double Run() const { return static_cast<double>(timed_->Run()) * 1e-9 / launches_; }

  const char* name() const { return cuda::RowOf(row_.kernel).name; }

 private:
  const cuda::Bconv2dRow& row_;
  int launches_;
  std::unique_ptr<TimedLaunches> timed_;
};

void RunOnce(const CudaQueue& queue, const cuda::Bconv2dRow& row, const Problem& problem) {
  problem.Poison();
  queue.Add(Launch::Of(row, queue.device().chip(), problem.args()[0]));
  queue.Wait();
}

std::vector<const cuda::Bconv2dRow*> RowsOf(const Settings& settings, const Problem& problem,
                                            const cuda::Chip& chip) {
  std::vector<const cuda::Bconv2dRow*> rows;
  const auto add = [&](std::string_view name) {
    const auto choice = cuda::SelectBconv2d(problem.args()[0], chip, name);
    if (choice.row != nullptr) rows.push_back(choice.row);
  };
  for (const std::string& name : settings.rows) {
    if (name != "all") {
      add(name);
      continue;
    }
    for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
      add(cuda::RowOf(row.kernel).name);
    }
  }
  return rows;
}

// Measures all rows, which take turns. Returns false if a result is wrong; a row with a wrong
// result gets no time.
bool Measure(const Settings& settings, const CudaQueue& queue, const Problem& problem,
             const std::string& what) {
  const auto is_wrong = [&](const cuda::Bconv2dRow& row) {
    std::printf("{%s, \"row\": \"%s\", \"wrong\": true}\n", what.c_str(),
                cuda::RowOf(row.kernel).name);
    std::fflush(stdout);
    return false;
  };
  const cuda::Chip& chip = queue.device().chip();
  const cuda::Bconv2dRow& plainest =
      *cuda::SelectBconv2d(problem.args()[0], chip, "bconv2d_popc").row;
  RunOnce(queue, plainest, problem);
  if (!problem.HasExpectedPixels()) return is_wrong(plainest);
  const std::vector<std::byte> expected = problem.Outputs();
  bool all_right = true;
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (const cuda::Bconv2dRow* row : RowsOf(settings, problem, chip)) {
    RunOnce(queue, *row, problem);
    if (problem.HasOutputs(expected)) {
      candidates.push_back(std::make_unique<Candidate>(queue, *row, problem));
    } else {
      all_right = is_wrong(*row);
    }
  }
  std::vector<std::vector<double>> times(candidates.size());
  for (int i = 0; i < kRepetitions + 1; ++i) {
    for (size_t c = 0; c < candidates.size(); ++c) {
      const double seconds = candidates[c]->Run();
      if (i > 0) times[c].push_back(seconds);
    }
  }
  for (size_t c = 0; c < candidates.size(); ++c) {
    std::vector<double>& own = times[c];
    std::sort(own.begin(), own.end());
    std::printf(
        "{%s, \"row\": \"%s\", \"launches\": \"%s\", \"median_s\": %.4g, "
        "\"quartiles_s\": [%.4g, %.4g], \"products\": %.6g, \"bytes\": %.6g}\n",
        what.c_str(), candidates[c]->name(),
        queue.device().begins_launches_early() ? "early" : "in turn", own[own.size() / 2],
        own[own.size() / 4], own[own.size() * 3 / 4], problem.products(), problem.bytes());
  }
  std::fflush(stdout);
  return all_right;
}

bool MeasureLayers(const Settings& settings, const CudaQueue& queue, CudaMemory& memory) {
  bool all_right = true;
  for (const auto& [name, layer] : kLayers) {
    if (settings.layers.find(name) == std::string::npos) continue;
    for (const int64_t batch : settings.batches) {
      for (const char* output : kOutputs) {
        const Problem problem(layer, batch, output, memory);
        const std::string what = std::string("\"layer\": \"") + name +
                                 "\", \"batch\": " + std::to_string(batch) + ", \"output\": \"" +
                                 output + "\"";
        all_right = Measure(settings, queue, problem, what) && all_right;
      }
    }
  }
  return all_right;
}

bool MeasureProducts(const Settings& settings, const CudaQueue& queue, CudaMemory& memory) {
  bool all_right = true;
  for (const int64_t size : settings.products) {
    for (const char* output : kOutputsOfProducts) {
      const Problem problem({.size = 1, .channels = size, .filter = 1}, size, output, memory);
      const std::string what =
          "\"product\": " + std::to_string(size) + ", \"output\": \"" + output + "\"";
      all_right = Measure(settings, queue, problem, what) && all_right;
    }
  }
  return all_right;
}

std::vector<int64_t> ParseNumbers(const std::string& text) {
  std::vector<int64_t> numbers;
  for (const char* at = text.c_str(); *at != 0; at += *at == ',') {
    char* end = nullptr;
    numbers.push_back(std::max(1L, std::strtol(at, &end, 10)));
    if (end == at) std::exit(3);
    at = end;
  }
  return numbers;
}

std::vector<std::string> ParseNames(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

Settings ParseFlags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::string value(flag.substr(std::min(flag.size(), flag.find('=') + 1)));
    if (flag.starts_with("--layers=")) {
      settings.layers = value;
    } else if (flag.starts_with("--batches=")) {
      settings.batches = ParseNumbers(value);
    } else if (flag.starts_with("--products=")) {
      settings.products = ParseNumbers(value);
    } else if (flag.starts_with("--rows=")) {
      settings.rows = ParseNames(value);
    } else if (flag.starts_with("--gpu=")) {
      settings.gpu = std::atoi(value.c_str());
    } else {
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
    const bool all_right = settings.products.empty() ? MeasureLayers(settings, queue, memory)
                                                     : MeasureProducts(settings, queue, memory);
    return all_right ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("{\"error\": \"%s\"}\n", e.what());
    return 2;
  }
}
