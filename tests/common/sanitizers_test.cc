// Checks that a sanitized build finds what it is built for. If a flag were lost, all other tests
// would still pass. These tests pass only with `--config=asan` or `--config=tsan`.
#include <climits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace {

#if defined(__SANITIZE_ADDRESS__)

TEST(SanitizersDeathTest, AReadBehindABuffer) {
  std::vector<int> buffer(8);
  const volatile int* const end = buffer.data() + buffer.size();
  EXPECT_DEATH((void)*end, "AddressSanitizer: heap-buffer-overflow");
}

TEST(SanitizersDeathTest, AnOverflow) {
  volatile int largest = INT_MAX;
  EXPECT_DEATH(largest = largest + 1, "signed integer overflow");
}

#else

int counter;

TEST(SanitizersDeathTest, ARace) {
  const auto race = [] {
    const auto count = [] {
      for (int i = 0; i < 100000; ++i) counter = counter + 1;
    };
    std::thread first(count), second(count);
    first.join();
    second.join();
  };
  EXPECT_DEATH(race(), "ThreadSanitizer: data race");
}

#endif

}  // namespace
