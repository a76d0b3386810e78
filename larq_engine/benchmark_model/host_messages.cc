#include "larq_engine/benchmark_model/host_messages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>

namespace larq_engine {
namespace {

constexpr std::array kCrashes = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

// Data for the signal handler, which gets none as arguments. It may call only functions that POSIX
// lists as safe in handlers.
struct {
  std::atomic<int> from;
  std::atomic<int> to;
  std::array<struct sigaction, kCrashes.size()> before;
} crash;

void StopHandling() {
  for (size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &crash.before[i], nullptr);
}

void HandleCrash(int signal) {
  StopHandling();
  char block[4096];
  for (ssize_t length; (length = read(crash.from, block, sizeof(block))) > 0;) {
    if (write(crash.to, block, static_cast<size_t>(length)) < 0) break;
  }
  raise(signal);  // takes effect when this function ends: the crash then goes on as usual
}

void StartHandling(int from, int to) {
  crash.from = from;
  crash.to = to;
  struct sigaction action = {};
  action.sa_handler = HandleCrash;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &action, &crash.before[i]);
}

// Writes the lines that the plug-in logs because it was asked to.
void WriteOurLines(std::string_view text, int to) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("larq_engine: ")) dprintf(to, "%s\n", std::string(line).c_str());
  }
}

}  // namespace

HostMessages::HostMessages() {
  int ends[2];
  if (pipe(ends) != 0) return;
  for (const int end : ends) fcntl(end, F_SETFL, O_NONBLOCK);
  std::fflush(stderr);
  stderr_ = dup(STDERR_FILENO);
  if (stderr_ < 0 || dup2(ends[1], STDERR_FILENO) < 0) {
    if (stderr_ >= 0) close(stderr_);
    close(ends[0]);
    stderr_ = -1;
  } else {
    read_end_ = ends[0];
    StartHandling(read_end_, stderr_);
  }
  close(ends[1]);
}

HostMessages::~HostMessages() {
  if (stderr_ < 0) return;
  Take();
  StopHandling();
  std::fflush(stderr);
  dup2(stderr_, STDERR_FILENO);
  close(stderr_);
  close(read_end_);
}

std::string HostMessages::Take() {
  std::string text;
  if (stderr_ < 0) return text;
  std::fflush(stderr);
  char block[4096];
  for (ssize_t length; (length = read(read_end_, block, sizeof(block))) > 0;) {
    text.append(block, static_cast<size_t>(length));
  }
  WriteOurLines(text, stderr_);
  return text;
}

std::string FirstError(std::string_view messages) {
  constexpr std::string_view kError = "ERROR: ";
  size_t start = 0;
  while (start < messages.size() && !messages.substr(start).starts_with(kError)) {
    start = std::min(messages.find('\n', start), messages.size() - 1) + 1;
  }
  if (start >= messages.size()) return "";
  std::string_view error = messages.substr(start + kError.size());
  error = error.substr(0, error.find('\n'));
  // LiteRT puts the place in its source, "[file.cc:123] ", before the message.
  const size_t place = error.find("] ");
  if (error.starts_with('[') && place != std::string_view::npos) error.remove_prefix(place + 2);
  while (error.ends_with(' ') || error.ends_with('.')) error.remove_suffix(1);
  return std::string(error);
}

}  // namespace larq_engine
