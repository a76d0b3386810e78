// Runs hosts in several threads at once. ThreadSanitizer judges this test (`--config=tsan`).
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

constexpr int kHosts = 4;
constexpr int kRounds = 20;

Graph GraphOfHost(int number) {
  return ModelBuilder(kTfLiteFloat32, {1, 10 + number, 12, 32 + 9 * number}, number)
      .AddQuantize()
      .AddConv({.filters = 24, .output = kTfLiteInt32})
      .AddPool({})
      .AddConv({.filters = 16})
      .AddBinary(builtin::kMul, kTfLiteActNone)
      .AddPrelu()
      .Build();
}

// Resizes every host between two shapes. Each result must be that of a host that runs alone.
void RunHost(TfLiteDelegate* delegate, int number, const Outputs (&expected)[2], int* good) {
  MiniHost host(GraphOfHost(number));
  if (host.ApplyDelegate(delegate) != kTfLiteOk) return;
  for (int round = 0; round < kRounds; ++round) {
    const int batch = 1 + round % 2;
    host.ResizeInput(0, std::vector<int>{batch, 10 + number, 12, 32 + 9 * number});
    Outputs outputs;
    if (RunOnce(&host, number, 0xCD, &outputs) && outputs == expected[batch - 1]) ++*good;
  }
}

void ExpectAllRoundsGood(bool share_delegate, const DelegateOptions& options) {
  Outputs expected[kHosts][2];
  for (int number = 0; number < kHosts; ++number) {
    const DelegatePtr alone = CreateDelegate({{"num_threads", "1"}});
    MiniHost host(GraphOfHost(number));
    ASSERT_EQ(host.ApplyDelegate(alone.get()), kTfLiteOk) << host.errors();
    for (int batch : {1, 2}) {
      host.ResizeInput(0, std::vector<int>{batch, 10 + number, 12, 32 + 9 * number});
      ASSERT_TRUE(RunOnce(&host, number, 0, &expected[number][batch - 1])) << host.errors();
    }
  }
  std::vector<DelegatePtr> delegates;
  for (int i = 0; i < (share_delegate ? 1 : kHosts); ++i) {
    delegates.push_back(CreateDelegate(options));
    ASSERT_NE(delegates.back(), nullptr);
  }
  int good[kHosts] = {};
  std::vector<std::thread> threads;
  for (int number = 0; number < kHosts; ++number) {
    TfLiteDelegate* delegate = delegates[share_delegate ? 0 : number].get();
    threads.emplace_back(
        [&, number, delegate] { RunHost(delegate, number, expected[number], &good[number]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int number = 0; number < kHosts; ++number) EXPECT_EQ(good[number], kRounds) << number;
}

TEST(Threads, FourHostsWithDelegatesOfTheirOwn) {
  ExpectAllRoundsGood(false, {{"num_threads", "1"}});
}

TEST(Threads, FourHostsWithDelegatesOfTwoThreads) {
  ExpectAllRoundsGood(false, {{"num_threads", "2"}});
}

TEST(Threads, FourHostsShareADelegate) { ExpectAllRoundsGood(true, {{"num_threads", "1"}}); }

TEST(Threads, FourHostsShareADelegateOfThreeThreads) {
  ExpectAllRoundsGood(true, {{"num_threads", "3"}});
}

TEST(Threads, HostsComeAndGoWhileAnotherRuns) {
  const DelegatePtr delegate = CreateDelegate({{"num_threads", "2"}});
  std::thread coming_and_going([&delegate] {
    for (int round = 0; round < kRounds; ++round) {
      MiniHost host(GraphOfHost(1));
      EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
      EXPECT_EQ(host.Allocate(), kTfLiteOk);
    }
  });
  MiniHost host(GraphOfHost(2));
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  Outputs first, outputs;
  EXPECT_TRUE(RunOnce(&host, 1, 0, &first));
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_TRUE(RunOnce(&host, 1, 0, &outputs));
    EXPECT_EQ(outputs, first);
  }
  coming_and_going.join();
}

}  // namespace
}  // namespace larq_engine::testing
