// Divisions by a product and a shift give the results of C++, up to the last number that they are
// for.
#include "larq_engine/kernels/cuda/divide.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/common/seed.h"

namespace larq_engine::testing {
namespace {

constexpr int64_t kLast = INT32_MAX;

template <class Number>
void ExpectDivided(Number number, int32_t by) {
  const cuda::Divided<Number> divided = cuda::Divide(number, cuda::MakeDivisor(by));
  ASSERT_EQ(divided.quotient, number / by) << number << " / " << by;
  ASSERT_EQ(divided.rest, number % by) << number << " / " << by;
}

// Expects right quotients where they change, at multiples of the divisor. Errors are largest at the
// last multiple.
void ExpectDivides(std::mt19937_64& random, int32_t by) {
  const int64_t last = kLast / by;
  for (const int64_t multiple :
       {int64_t{0}, int64_t{1}, last / 2, last - 1, last,
        static_cast<int64_t>(random() % static_cast<uint64_t>(last + 1))}) {
    for (const int64_t number : {multiple * by - 1, multiple * by, multiple * by + 1}) {
      if (number >= 0 && number <= kLast) ExpectDivided(static_cast<int32_t>(number), by);
    }
  }
  ExpectDivided(static_cast<int32_t>(kLast), by);
  ExpectDivided(static_cast<int32_t>(random() % (uint64_t{kLast} + 1)), by);
}

TEST(Divide, BySmallNumbersAndPowers) {
  std::mt19937_64 random(TestSeed());
  for (int32_t by = 1; by <= 2000; ++by) ExpectDivides(random, by);
  for (int64_t power = 1; power <= kLast; power *= 2) {
    for (const int64_t by : {power - 1, power, power + 1}) {
      if (by >= 1) ExpectDivides(random, static_cast<int32_t>(by));
    }
  }
  for (int64_t by = kLast; by > kLast - 100; --by) ExpectDivides(random, static_cast<int32_t>(by));
}

TEST(Divide, ByAnyNumber) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 200'000; ++i) {
    const auto by = static_cast<int32_t>(1 + (random() % uint64_t{kLast} >> random() % 31));
    ExpectDivides(random, by);
  }
}

TEST(Divide, NumbersOfMoreThan31Bits) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  for (const int64_t number : {int64_t{0}, kLast, kLast + 1, INT64_MAX}) {
    for (const int32_t by : {1, 2, 3, 224, INT32_MAX}) ExpectDivided(number, by);
  }
  for (int i = 0; i < 200'000; ++i) {
    const auto number = static_cast<int64_t>(random() >> (1 + random() % 63));
    ExpectDivided(number, static_cast<int32_t>(1 + (random() % uint64_t{kLast} >> random() % 31)));
  }
}

}  // namespace
}  // namespace larq_engine::testing
