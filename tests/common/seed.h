// Random numbers for tests, and samples of their cases. The seed changes every run unless
// LARQ_ENGINE_TEST_SEED gives it; every failure of a test that uses it prints the command that
// replays it.
#ifndef LARQ_ENGINE_TESTS_COMMON_SEED_H_
#define LARQ_ENGINE_TESTS_COMMON_SEED_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace larq_engine::testing {

inline uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("LARQ_ENGINE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  }();
  return seed;
}

// Of so many cases of a grid one runs: of each with LARQ_ENGINE_TEST_FULL=1. Where programs are
// much slower, emulated or under sanitizers, .bazelrc and tools/test_*.sh set
// LARQ_ENGINE_TEST_SHARE.
inline int64_t Share() {
  static const int64_t share = [] {
    if (std::getenv("LARQ_ENGINE_TEST_FULL") != nullptr) return int64_t{1};
    const char* given = std::getenv("LARQ_ENGINE_TEST_SHARE");
    return given != nullptr ? std::max<int64_t>(std::strtoll(given, nullptr, 10), 1) : int64_t{4};
  }();
  return share;
}

// For SCOPED_TRACE.
inline std::string ReplayHint() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return "replay: tools/run_bazel.sh test //tests/... --test_env=LARQ_ENGINE_TEST_SEED=" +
         std::to_string(TestSeed()) +
         " --test_env=LARQ_ENGINE_TEST_SHARE=" + std::to_string(Share()) +
         " --test_filter=" + test->test_suite_name() + "." + test->name();
}

class Random {
 public:
  Random() : engine_(TestSeed()) {}

  // Whether the next case of a grid is in the sample.
  bool Takes() { return Int(1, Share()) == 1; }
  uint32_t Word() { return static_cast<uint32_t>(engine_()); }
  int64_t Int(int64_t min, int64_t max) {
    return std::uniform_int_distribution<int64_t>(min, max)(engine_);
  }
  float Float(float min, float max) {
    return std::uniform_real_distribution<float>(min, max)(engine_);
  }
  std::vector<uint32_t> Words(size_t count) {
    std::vector<uint32_t> words(count);
    for (uint32_t& word : words) word = Word();
    return words;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_SEED_H_
