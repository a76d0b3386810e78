// The text that the host writes to standard error, kept for our own messages.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_HOST_MESSAGES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_HOST_MESSAGES_H_

#include <string>
#include <string_view>

namespace larq_engine {

// While the object lives, standard error goes into a pipe. There may be only one object at a time.
// Text beyond what the pipe holds (64 KiB) is lost; nothing waits. Lines that the plug-in logs,
// such as the claims of LARQ_ENGINE_LOG_CLAIMS, go on to the true standard error. If the process
// crashes, text that was not taken is written to the true standard error, because it may give the
// reason.
class HostMessages {
 public:
  HostMessages();
  ~HostMessages();
  HostMessages(const HostMessages&) = delete;
  HostMessages& operator=(const HostMessages&) = delete;

  // Returns all that was written since the last call.
  std::string Take();

 private:
  int stderr_ = -1;  // true standard error; -1: nothing is kept
  int read_end_ = -1;
};

// Returns the first error in the host's text, which is the cause of those that follow. Empty if
// there is none.
std::string FirstError(std::string_view messages);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_HOST_MESSAGES_H_
