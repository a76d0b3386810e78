#include "larq_engine/benchmark_model/host_messages.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(FirstError, IsFoundBetweenOtherLines) {
  EXPECT_EQ(FirstError("INFO: [a.cc:1] made\nERROR: LceBconv2d 'x': no. \nERROR: Node 2 failed.\n"),
            "LceBconv2d 'x': no");
  EXPECT_EQ(FirstError("ERROR: [model.cc:12] bad index: 7"), "bad index: 7");
  EXPECT_EQ(FirstError("INFO: fine\n"), "");
  EXPECT_EQ(FirstError("no ERROR: here\n"), "");
  EXPECT_EQ(FirstError("ERROR: "), "");
  EXPECT_EQ(FirstError(""), "");
}

TEST(HostMessages, KeepsStandardErrorAndGivesItBack) {
  ::testing::internal::CaptureStderr();
  std::fprintf(stderr, "before ");
  {
    HostMessages messages;
    std::fprintf(stderr, "within");
    EXPECT_EQ(messages.Take(), "within");
    EXPECT_EQ(messages.Take(), "");
    std::fprintf(stderr, "lost");
  }
  std::fprintf(stderr, "after");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "before after");
}

TEST(HostMessages, LinesOfThePlugInGoOn) {
  ::testing::internal::CaptureStderr();
  {
    HostMessages messages;
    std::fprintf(stderr, "INFO: kept\nlarq_engine: graph 0: takes over 1 of 2 operators\n");
    messages.Take();
    std::fprintf(stderr, "larq_engine: #1 ADD: host\nERROR: larq_engine: kept\n");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "larq_engine: graph 0: takes over 1 of 2 operators\nlarq_engine: #1 ADD: host\n");
}

TEST(HostMessagesDeathTest, ACrashShowsWhatWasNotTaken) {
  const auto crash_by = [](int signal) {
    HostMessages messages;
    std::fprintf(stderr, "taken");
    messages.Take();
    std::fprintf(stderr, "the reason");
    raise(signal);
  };
  // SIGSEGV is left out, as a sanitizer ends the process in a way of its own after it.
  for (const int signal : {SIGABRT, SIGILL}) {
    EXPECT_EXIT(crash_by(signal), ::testing::KilledBySignal(signal), "^the reason");
  }
  const auto abort_within = [] {
    HostMessages messages;
    std::fprintf(stderr, "the reason");
    std::abort();
  };
  EXPECT_EXIT(abort_within(), ::testing::KilledBySignal(SIGABRT), "^the reason");
}

TEST(HostMessages, SignalsAreGivenBack) {
  std::signal(SIGABRT, SIG_IGN);
  { HostMessages messages; }
  EXPECT_EQ(std::signal(SIGABRT, SIG_DFL), SIG_IGN);
}

TEST(HostMessages, MuchTextDoesNotWait) {
  HostMessages messages;
  const std::string line(4096, 'x');
  for (int i = 0; i < 100; ++i) std::fprintf(stderr, "%s", line.c_str());
  EXPECT_GE(messages.Take().size(), line.size());
}

}  // namespace
}  // namespace larq_engine
