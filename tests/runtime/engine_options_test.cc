#include "larq_engine/runtime/engine_options.h"

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "gtest/gtest.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "tests/common/error_of.h"

namespace larq_engine {
namespace {

EngineOptions Parse(const char* key, const char* value) {
  return ParseEngineOptions(&key, &value, 1);
}

std::string ErrorOf(const char* key, const char* value) {
  return testing::ErrorOf<std::invalid_argument>([&] { Parse(key, value); });
}

// Sets an environment variable for the length of one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { Set(value); }
  ~Variable() { Set(""); }

 private:
#if defined(_WIN32)
  void Set(const char* value) { _putenv_s(name_, value); }  // an empty value removes it
#else
  void Set(const char* value) { *value == '\0' ? unsetenv(name_) : setenv(name_, value, 1); }
#endif

  const char* name_;
};

TEST(EngineOptions, Defaults) {
  const EngineOptions options = ParseEngineOptions(nullptr, nullptr, 0);
  EXPECT_EQ(options.num_threads, 0);
  EXPECT_EQ(options.kernel, "auto");
  EXPECT_TRUE(options.fuse);
}

TEST(EngineOptions, Values) {
  EXPECT_EQ(Parse("num_threads", "1").num_threads, 1);
  EXPECT_EQ(Parse("num_threads", "256").num_threads, 256);
  EXPECT_EQ(Parse("kernel", "reference").kernel, "reference");
  EXPECT_EQ(Parse("kernel", "bgemm_i32_4x2x64_portable").kernel, "bgemm_i32_4x2x64_portable");
  for (const char* on : {"on", "true", "1", "True", "ON"})
    EXPECT_TRUE(Parse("fuse", on).fuse) << on;
  for (const char* off : {"off", "false", "0", "False", "Off"}) {
    EXPECT_FALSE(Parse("fuse", off).fuse) << off;
  }
}

TEST(EngineOptions, TimeOfSpinning) {
  EXPECT_EQ(ParseEngineOptions(nullptr, nullptr, 0).spin, kDefaultSpin);
  for (const int spin : {0, 7, 1'000'000}) {
    const Variable variable("LARQ_ENGINE_SPIN_US", std::to_string(spin).c_str());
    EXPECT_EQ(ParseEngineOptions(nullptr, nullptr, 0).spin.count(), spin);
  }
  for (const char* wrong : {"-1", "1000001", "1.5", "long"}) {
    const Variable variable("LARQ_ENGINE_SPIN_US", wrong);
    EXPECT_EQ(
        testing::ErrorOf<std::invalid_argument>([] { ParseEngineOptions(nullptr, nullptr, 0); }),
        std::string("environment variable LARQ_ENGINE_SPIN_US: expected 0 to 1000000 "
                    "microseconds, got '") +
            wrong + "'");
  }
}

TEST(EngineOptions, WrongFuse) {
  for (const char* value : {"", "yes", "2", "off "}) {
    EXPECT_EQ(ErrorOf("fuse", value),
              "option fuse: expected on or off (true or false, 1 or 0), got '" +
                  std::string(value) + "'");
  }
}

TEST(EngineOptions, WrongThreads) {
  for (const char* value : {"0", "257", "-1", "two", "2 ", "", "99999999999"}) {
    EXPECT_EQ(ErrorOf("num_threads", value),
              "option num_threads: expected 1 to 256, got '" + std::string(value) + "'");
  }
}

TEST(EngineOptions, UnknownNamesListTheValidOnes) {
  EXPECT_EQ(
      ErrorOf("threads", "2"),
      "unknown option 'threads'; expected one of num_threads, kernel, fuse, device, placement");
  EXPECT_EQ(ErrorOf(nullptr, nullptr),
            "unknown option ''; expected one of num_threads, kernel, fuse, device, placement");
  EXPECT_EQ(ErrorOf("kernel", "fast")
                .find("option kernel: unknown kernel 'fast'; expected one of "
                      "auto, reference, bgemm_i32_4x2x64_portable"),
            0u);
}

// A row for another CPU is neither run nor offered.
TEST(EngineOptions, ErrorsNameTheRowsOfThisCpuAlone) {
  const CpuFeatures cpu = DetectCpuFeatures();
  std::string names = "expected one of auto, reference";
  std::vector<std::pair<std::string, Isa>> absent;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (cpu.Has(row.isa)) {
        names += ", " + std::string(row.name);
      } else {
        absent.emplace_back(row.name, row.isa);
      }
    }
  };
  add(BgemmRows());
  add(ByteRows());
  EXPECT_EQ(ErrorOf("kernel", "fast"), "option kernel: unknown kernel 'fast'; " + names);
  for (const auto& [name, isa] : absent) {
    const char* withheld = isa == Isa::kAmxint8 ? ", or the system withholds it" : "";
    EXPECT_EQ(ErrorOf("kernel", name.c_str()), "option kernel: kernel '" + name +
                                                   "' cannot run: this CPU has no " + IsaName(isa) +
                                                   withheld + "; " + names);
  }
}

TEST(EngineOptions, Devices) {
  EXPECT_EQ(Parse("device", "cpu").device, DeviceOption::kCpu);
  EXPECT_EQ(Parse("device", "auto").device, DeviceOption::kAuto);
  EXPECT_EQ(Parse("device", "cuda").device, DeviceOption::kAccelerator);
  EXPECT_EQ(Parse("device", "cuda").ordinal, 0);
  EXPECT_EQ(Parse("device", "cuda:3").device, DeviceOption::kAccelerator);
  EXPECT_EQ(Parse("device", "cuda:3").ordinal, 3);
  for (const char* value : {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1 ", "cuda3", "CPU"}) {
    EXPECT_EQ(ErrorOf("device", value),
              "option device: expected cpu, auto, cuda, or cuda:N for GPU N, got '" +
                  std::string(value) + "'");
  }
}

TEST(EngineOptions, VariableStandsInForTheDevice) {
  const Variable variable("LARQ_ENGINE_DEVICE", "cuda:2");
  const EngineOptions options = ParseEngineOptions(nullptr, nullptr, 0);
  EXPECT_EQ(options.device, DeviceOption::kAccelerator);
  EXPECT_EQ(options.ordinal, 2);
  EXPECT_EQ(Parse("device", "cpu").device, DeviceOption::kCpu);
  EXPECT_EQ(Parse("device", "cuda").ordinal, 0);
}

TEST(EngineOptions, WrongVariableOfTheDevice) {
  const Variable variable("LARQ_ENGINE_DEVICE", "gpu");
  EXPECT_EQ(ErrorOf("num_threads", "1"),
            "environment variable LARQ_ENGINE_DEVICE: expected cpu, auto, cuda, or cuda:N for GPU "
            "N, got 'gpu'");
}

EngineOptions ParseAll(const std::map<const char*, const char*>& options) {
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : options) {
    keys.push_back(key);
    values.push_back(value);
  }
  return ParseEngineOptions(keys.data(), values.data(), keys.size());
}

PlacementOption PlacementOf(const char* text, const char* device = "cpu") {
  return ParseAll({{"placement", text}, {"device", device}}).placement.value();
}

constexpr std::optional<size_t> kCpu = std::nullopt;
constexpr std::optional<size_t> kCuda = 0;

NodeOption On(std::optional<size_t> accelerator, std::string kernel = {}) {
  return {.parts = {{.accelerator = accelerator, .kernel = std::move(kernel)}}};
}

TEST(EngineOptions, Placement) {
  EXPECT_FALSE(Parse("placement", "").placement.has_value());
  EXPECT_EQ(PlacementOf("none"), PlacementOption());
  EXPECT_EQ(PlacementOf("3:cpu,17:host"), PlacementOption({{{0, 3}, On(kCpu)}, {{0, 17}, {}}}));
  EXPECT_EQ(PlacementOf("3:cpu,0:cuda", "cuda"),
            PlacementOption({{{0, 3}, On(kCpu)}, {{0, 0}, On(kCuda)}}));
  EXPECT_EQ(PlacementOf("3:cpu,1/3:cpu,0/4:cpu"),
            PlacementOption({{{0, 3}, On(kCpu)}, {{1, 3}, On(kCpu)}, {{0, 4}, On(kCpu)}}));
  for (const char* item :
       {"3",         "3:",       ":cpu",        "3:gpu",        "-3:cpu",
        "3:cpu:",    "x:cpu",    "3:cpu 4:cpu", "/3:cpu",       "1/:cpu",
        "1/2/3:cpu", "-1/3:cpu", "3:host:x",    "3:cpu@",       "3:cpu@0+cpu",
        "3:cpu@8",   "3:cpu@8+", "3:cpu@x+cpu", "3:host@8+cpu", "3:cpu@8+cpu+cpu",
        "none"}) {
    EXPECT_EQ(ErrorOf("placement", ("1:cpu," + std::string(item)).c_str()),
              "option placement: expected a node's number (see the profile) and host, cpu or cuda, "
              "such as 3:cpu,7:cuda, got '" +
                  std::string(item) + "'");
  }
  EXPECT_EQ(ErrorOf("placement", "3:cpu,3:cpu"), "option placement: node 3 stands in it twice");
  EXPECT_EQ(ErrorOf("placement", "1/3:cpu,3:cpu,1/3:cpu"),
            "option placement: node 1/3 stands in it twice");
}

TEST(EngineOptions, PlacementNamesKernels) {
  EXPECT_EQ(
      PlacementOf("3:cpu:reference,4:cuda:bconv2d_popc", "auto"),
      PlacementOption({{{0, 3}, On(kCpu, "reference")}, {{0, 4}, On(kCuda, "bconv2d_popc")}}));
  EXPECT_EQ(ErrorOf("placement", "3:cpu:none").find("option placement: node 3: "), 0u);
  EXPECT_EQ(ErrorOf("placement", "3:cpu:bconv2d_popc").find("option placement: node 3: "), 0u);
}

TEST(EngineOptions, PlacementCutsLayers) {
  const NodeOption cut{
      .parts = {{.accelerator = kCpu}, {.accelerator = kCuda, .kernel = "bconv2d_popc"}},
      .channels = 64};
  EXPECT_EQ(PlacementOf("3:cpu@64+cuda:bconv2d_popc", "cuda"), PlacementOption({{{0, 3}, cut}}));
}

// A file may contain any bytes, of any length.
TEST(EngineOptions, PlacementOfStrangers) {
  const std::string start =
      "option placement: expected a node's number (see the profile) and host, cpu or cuda, such as "
      "3:cpu,7:cuda, got '";
  EXPECT_EQ(ErrorOf("placement", "3:cpu:\xff.\x1b"), start + "3:cpu:\uFFFD.\uFFFD'");
  EXPECT_EQ(ErrorOf("placement", std::string(10000, 'x').c_str()),
            start + std::string(80, 'x') + "...'");
  std::string cuts;
  for (int i = 0; i < 1025; ++i) cuts += std::to_string(i) + ":cpu@32+cpu,";
  EXPECT_EQ(ErrorOf("placement", cuts.c_str()),
            "option placement: expected at most 1024 layers that are cut in two, got more");
}

TEST(EngineOptions, PlacementFallsBack) {
  EXPECT_EQ(PlacementOf("fallback,3:cpu,4:cuda,5:cpu:none,6:cpu@8+cuda"),
            PlacementOption({{{0, 3}, On(kCpu)}}));
  EXPECT_EQ(ErrorOf("placement", "fallback,3:cpu,3:cpu"),
            "option placement: node 3 stands in it twice");
}

// Options for GPUs are errors if the CPU would ignore them.
TEST(EngineOptions, WhatIsForGpusNeedsOne) {
  EXPECT_EQ(ErrorOf("placement", "3:cuda"),
            "option placement: node 3 is placed on cuda; set device to cuda as well, or to "
            "auto for the CPU where there is no GPU");
  EXPECT_EQ(ErrorOf("kernel", "bconv2d_popc"),
            "option kernel: bconv2d_popc is for GPUs; set device to cuda as well");
  EXPECT_EQ(ParseAll({{"device", "cuda"}, {"kernel", "bconv2d_popc"}}).cuda_kernel, "bconv2d_popc");
}

TEST(EngineOptions, VariableStandsInForAuto) {
  const Variable variable("LARQ_ENGINE_KERNEL", "reference");
  EXPECT_EQ(ParseEngineOptions(nullptr, nullptr, 0).kernel, "reference");
  EXPECT_EQ(Parse("kernel", "auto").kernel, "reference");
  EXPECT_EQ(Parse("kernel", "bgemm_i32_4x2x64_portable").kernel, "bgemm_i32_4x2x64_portable");
}

TEST(EngineOptions, UnknownVariableIsAnErrorToo) {
  const Variable variable("LARQ_ENGINE_KERNEL", "fast");
  EXPECT_EQ(ErrorOf("num_threads", "1").find("environment variable LARQ_ENGINE_KERNEL: unknown "),
            0u);
}

}  // namespace
}  // namespace larq_engine
