#include "larq_engine/runtime/usable_cpus.h"

#include <sched.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

// A tree of control groups.
class Groups {
 public:
  Groups() : root_(::testing::TempDir() + "/groups") { std::filesystem::remove_all(root_); }

  Groups& Add(const std::string& group, const std::string& limit) {
    std::filesystem::create_directories(root_ + group);
    std::ofstream(root_ + group + "/cpu.max") << limit << "\n";
    return *this;
  }
  int Cpus(const std::string& group) const { return GroupCpus(root_, group); }

 private:
  std::string root_;
};

TEST(GroupCpus, AreTheShareOfTime) {
  EXPECT_EQ(Groups().Add("/a", "200000 100000").Cpus("/a"), 2);
  EXPECT_EQ(Groups().Add("/a", "150000 100000").Cpus("/a"), 2);
  EXPECT_EQ(Groups().Add("/a", "1000 100000").Cpus("/a"), 1);
  EXPECT_EQ(Groups().Add("/a", "9000000000000 1").Cpus("/a"), std::numeric_limits<int>::max());
}

TEST(GroupCpus, TheSmallestLimitAboveHolds) {
  Groups groups;
  groups.Add("", "800000 100000").Add("/a", "max 100000").Add("/a/b", "400000 100000");
  EXPECT_EQ(groups.Cpus("/a/b"), 4);
  EXPECT_EQ(groups.Cpus("/a"), 8);
  EXPECT_EQ(groups.Cpus("/"), 8);
  EXPECT_EQ(groups.Cpus(""), 8);
  EXPECT_EQ(groups.Add("/a", "100000 100000").Cpus("/a/b"), 1);
}

TEST(GroupCpus, NoLimitIsNone) {
  EXPECT_EQ(Groups().Cpus("/a/b"), 0);
  for (const char* text : {"", "max 100000", "0 100000", "-1 100000", "100000 0", "100000", "?"}) {
    EXPECT_EQ(Groups().Add("/a", text).Cpus("/a"), 0) << text;
  }
}

TEST(UsableCpus, AreThoseThatThisThreadMayRunOn) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(UsableCpus(), 1);
  EXPECT_LE(UsableCpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(UsableCpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace larq_engine
