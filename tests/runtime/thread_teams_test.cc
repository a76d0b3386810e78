#include "larq_engine/runtime/thread_teams.h"

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

constexpr auto kSpin = kDefaultSpin;

// Returns whether a team computes each of some units once.
bool ComputesAll(ThreadPool& team) {
  std::vector<std::atomic<int>> counts(50);
  team.Run(
      static_cast<int64_t>(counts.size()),
      [](void* context, int64_t first, int64_t last, int) {
        auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
        for (int64_t i = first; i < last; ++i) counts[static_cast<size_t>(i)].fetch_add(1);
      },
      &counts);
  for (const auto& count : counts) {
    if (count != 1) return false;
  }
  return true;
}

TEST(ThreadTeams, RunsOneAfterAnotherHaveTheSameTeam) {
  ThreadTeams teams(3, kSpin, /*most=*/2);
  EXPECT_EQ(teams.threads(), 3);
  const ThreadPool* first = nullptr;
  for (int run = 0; run < 3; ++run) {
    ThreadTeams::Lease team(teams);
    EXPECT_EQ((*team).threads(), 3);
    EXPECT_TRUE(ComputesAll(*team));
    if (first == nullptr) first = &*team;
    EXPECT_EQ(&*team, first);
  }
}

TEST(ThreadTeams, RunsAtTheSameTimeHaveTheirOwn) {
  ThreadTeams teams(2, kSpin, /*most=*/2);
  ThreadTeams::Lease first(teams);
  ThreadTeams::Lease second(teams);
  EXPECT_NE(&*first, &*second);
  EXPECT_EQ((*second).threads(), 2);
}

TEST(ThreadTeams, ARunWithoutAFreeTeamIsAlone) {
  ThreadTeams teams(2, kSpin, /*most=*/1);
  ThreadTeams::Lease kept(teams);
  {
    ThreadTeams::Lease late(teams);
    EXPECT_EQ((*late).threads(), 1);
    EXPECT_TRUE(ComputesAll(*late));
  }
  EXPECT_EQ((*kept).threads(), 2);
}

TEST(ThreadTeams, ATeamIsFreeAgainAfterItsRun) {
  ThreadTeams teams(2, kSpin, /*most=*/1);
  std::optional<ThreadTeams::Lease> run(teams);
  ThreadTeams::Lease late(teams);
  late.TakeIfAlone();
  EXPECT_EQ((*late).threads(), 1);
  run.reset();
  late.TakeIfAlone();
  EXPECT_EQ((*late).threads(), 2);
}

TEST(ThreadTeams, CallersOnSeveralThreads) {
  ThreadTeams teams(2, kSpin, /*most=*/2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int run = 0; run < 200; ++run) {
        ThreadTeams::Lease team(teams);
        if (!ComputesAll(*team)) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadTeams, TheProcessSharesTeamsOfOneKind) {
  const std::shared_ptr<ThreadTeams> teams = ThreadTeams::OfProcess(2, kSpin);
  EXPECT_EQ(ThreadTeams::OfProcess(2, kSpin), teams);
  EXPECT_NE(ThreadTeams::OfProcess(3, kSpin), teams);
  EXPECT_NE(ThreadTeams::OfProcess(2, 2 * kSpin), teams);
}

TEST(ThreadTeams, TeamsEndWithTheirLastUser) {
  std::shared_ptr<ThreadTeams> teams = ThreadTeams::OfProcess(4, kSpin);
  const std::weak_ptr<ThreadTeams> known = teams;
  teams.reset();
  EXPECT_TRUE(known.expired());
}

// Windows has no fork. Sanitizers do not follow a forked child, or wait in it: see
// delegate_test.cc.
#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(ThreadTeams, AForkedChildHasItsOwn) {
  const std::shared_ptr<ThreadTeams> parents = ThreadTeams::OfProcess(2, kSpin);
  const pid_t child = fork();
  if (child == 0) {
    // A team of the parent is free, but its threads are not here.
    ThreadTeams::Lease alone(*parents);
    if ((*alone).threads() != 1 || !ComputesAll(*alone)) _exit(1);
    const std::shared_ptr<ThreadTeams> childs = ThreadTeams::OfProcess(2, kSpin);
    ThreadTeams::Lease own(*childs);
    _exit((*own).threads() == 2 && ComputesAll(*own) ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace larq_engine
