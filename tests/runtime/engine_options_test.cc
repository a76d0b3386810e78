#include "larq_engine/runtime/engine_options.h"

#include <cstdlib>
#include <stdexcept>

#include "gtest/gtest.h"
#include "larq_engine/kernels/select.h"

namespace larq_engine {
namespace {

EngineOptions Parse(const char* key, const char* value) {
  return ParseEngineOptions(&key, &value, 1);
}

std::string ErrorOf(const char* key, const char* value) {
  try {
    Parse(key, value);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "no error";
}

// Sets the variable for one test.
class KernelVariable {
 public:
  explicit KernelVariable(const char* value) { setenv("LARQ_ENGINE_KERNEL", value, 1); }
  ~KernelVariable() { unsetenv("LARQ_ENGINE_KERNEL"); }
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
  EXPECT_EQ(ErrorOf("threads", "2"),
            "unknown option 'threads'; expected one of num_threads, kernel, fuse");
  EXPECT_EQ(ErrorOf(nullptr, nullptr),
            "unknown option ''; expected one of num_threads, kernel, fuse");
  EXPECT_EQ(ErrorOf("kernel", "fast")
                .find("option kernel: unknown kernel 'fast'; expected one of "
                      "auto, reference, bgemm_i32_4x2x64_portable"),
            0u);
}

// A row of another CPU is neither run nor offered.
TEST(EngineOptions, ErrorsNameTheRowsOfThisCpuAlone) {
  const CpuFeatures cpu = DetectCpuFeatures();
  std::string names = "expected one of auto, reference";
  for (const BgemmRow& row : BgemmRows()) {
    if (cpu.Has(row.isa)) names += ", " + std::string(row.name);
  }
  EXPECT_EQ(ErrorOf("kernel", "fast"), "option kernel: unknown kernel 'fast'; " + names);
  for (const BgemmRow& row : BgemmRows()) {
    if (cpu.Has(row.isa)) continue;
    EXPECT_EQ(ErrorOf("kernel", row.name), "option kernel: kernel '" + std::string(row.name) +
                                               "' cannot run: this CPU has no " + IsaName(row.isa) +
                                               "; " + names);
  }
}

TEST(EngineOptions, VariableStandsInForAuto) {
  const KernelVariable variable("reference");
  EXPECT_EQ(ParseEngineOptions(nullptr, nullptr, 0).kernel, "reference");
  EXPECT_EQ(Parse("kernel", "auto").kernel, "reference");
  EXPECT_EQ(Parse("kernel", "bgemm_i32_4x2x64_portable").kernel, "bgemm_i32_4x2x64_portable");
}

TEST(EngineOptions, UnknownVariableIsAnErrorToo) {
  const KernelVariable variable("fast");
  EXPECT_EQ(ErrorOf("num_threads", "1").find("environment variable LARQ_ENGINE_KERNEL: unknown "),
            0u);
}

}  // namespace
}  // namespace larq_engine
