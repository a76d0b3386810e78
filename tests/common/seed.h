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

// Tells whether all cases of all grids run.
inline bool IsFull() { return std::getenv("LARQ_ENGINE_TEST_FULL") != nullptr; }

// Returns N, if one of N cases of a large grid runs. For programs that are much slower, emulated or
// under sanitizers, .bazelrc and tools/test_*.sh set LARQ_ENGINE_TEST_SHARE.
inline int64_t Share() {
  static const int64_t share = [] {
    if (IsFull()) return int64_t{1};
    const char* given = std::getenv("LARQ_ENGINE_TEST_SHARE");
    return given != nullptr ? std::max<int64_t>(std::strtoll(given, nullptr, 10), 1) : int64_t{4};
  }();
  return share;
}

// Returns a message for SCOPED_TRACE. The cases that run depend on the share, and on the
// configuration, whose name .bazelrc passes to the test.
inline std::string ReplayHint() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const char* config = std::getenv("LARQ_ENGINE_TEST_CONFIG");
  return "replay: tools/run_bazel.sh test //tests/..." +
         (config != nullptr ? std::string(" --config=") + config : "") +
         " --test_env=LARQ_ENGINE_TEST_SEED=" + std::to_string(TestSeed()) + " --test_env=" +
         (IsFull() ? "LARQ_ENGINE_TEST_FULL=1"
                   : "LARQ_ENGINE_TEST_SHARE=" + std::to_string(Share())) +
         " --test_filter=" + test->test_suite_name() + "." + test->name();
}

class Random {
 public:
  Random() : engine_(TestSeed()) {}

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

// A sample of a grid's cases: one random case of each Share() consecutive ones, and at least one of
// all.
class Sample {
 public:
  // `cases` is how often Takes() will be called.
  Sample(Random& random, int64_t cases)
      : random_(random), cases_(cases), step_(std::min(Share(), cases)) {}
  ~Sample() {
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(asked_, cases_) << "cases of a grid";
    EXPECT_GE(taken_, 1);
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  // Tells whether the next case is in the sample.
  bool Takes() {
    if (asked_ % step_ == 0) chosen_ = random_.Int(0, step_ - 1);
    const bool takes = asked_++ % step_ == chosen_;
    taken_ += takes;
    return takes;
  }

 private:
  Random& random_;
  const int64_t cases_, step_;
  int64_t asked_ = 0, taken_ = 0, chosen_ = 0;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_SEED_H_
