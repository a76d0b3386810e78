#include "larq_engine/runtime/shared_by_key.h"

#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(SharedByKey, OneObjectAsLongAsSomebodyUsesIt) {
  // The object is never destroyed, as SharedByKey demands.
  auto& shared = *new SharedByKey<int, int>;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  std::shared_ptr<int> first = shared.Get(7, make);
  EXPECT_EQ(shared.Get(7, make), first);
  EXPECT_NE(shared.Get(8, make), first);
  EXPECT_EQ(made, 2);
  first = nullptr;
  EXPECT_EQ(*shared.Get(7, make), 3);
}

TEST(SharedByKey, WhatCannotBeMadeLeavesNothing) {
  auto& shared = *new SharedByKey<int, int>;
  const auto fail = []() -> std::shared_ptr<int> { throw std::runtime_error("no"); };
  EXPECT_THROW(shared.Get(1, fail), std::runtime_error);
  EXPECT_EQ(*shared.Get(1, [] { return std::make_shared<int>(5); }), 5);
}

// The function that makes an object may ask for other objects, and several threads get the same
// one.
TEST(SharedByKey, NothingIsLockedWhileAnObjectIsMade) {
  auto& shared = *new SharedByKey<int, int>;
  const std::shared_ptr<int> outer =
      shared.Get(1, [&] { return shared.Get(2, [] { return std::make_shared<int>(2); }); });
  EXPECT_EQ(*outer, 2);
  std::vector<std::shared_ptr<int>> got(4);
  std::vector<std::thread> threads;
  for (std::shared_ptr<int>& one : got) {
    threads.emplace_back([&] { one = shared.Get(3, [] { return std::make_shared<int>(3); }); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::shared_ptr<int>& one : got) EXPECT_EQ(one, got.front());
}

}  // namespace
}  // namespace larq_engine
