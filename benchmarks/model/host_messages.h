// What the host writes to standard error, kept for our own messages.
#ifndef BENCHMARKS_MODEL_HOST_MESSAGES_H_
#define BENCHMARKS_MODEL_HOST_MESSAGES_H_

#include <string>
#include <string_view>

namespace larq_engine {

// From its making to its end standard error goes into a pipe; there is one such at a time. Text
// beyond what the pipe holds (64 KiB) is lost; nothing waits. If the process crashes, what was not
// taken comes out on the true standard error: it may say why.
class HostMessages {
 public:
  HostMessages();
  ~HostMessages();
  HostMessages(const HostMessages&) = delete;
  HostMessages& operator=(const HostMessages&) = delete;

  // All that was written since the last call.
  std::string Take();

 private:
  int stderr_ = -1;  // the true one; -1: nothing is kept
  int read_end_ = -1;
};

// The first error in the host's text, which is the cause of those that follow. Empty if there is
// none.
std::string FirstError(std::string_view messages);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_HOST_MESSAGES_H_
