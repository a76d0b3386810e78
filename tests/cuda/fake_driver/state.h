// The state of the fake driver: contexts, streams with their queued work, events, graphs, images.
#ifndef LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_STATE_H_
#define LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_STATE_H_

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "larq_engine/runtime/cuda/cuda_abi.h"
#include "tests/cuda/emulated_image.h"
#include "tests/cuda/fake_driver/memory.h"

namespace larq_engine {

struct CUctx_st {
  int device;
  int retained = 0;
};

// A recording of an event.
struct EventStamp {
  CUstream stream;
  bool done = false;
  uint64_t ns = 0;
};

struct CUevent_st {
  CUcontext context;
  unsigned flags;
  std::shared_ptr<EventStamp> last = nullptr;
  bool captured = false;  // the last recording was into a graph
};

struct QueuedWork {
  std::function<void()> run = {};
  // For a launch that may begin early: runs it while the work before it is not complete. Its
  // argument completes that work.
  std::function<void(const std::function<void()>& complete_earlier)> run_early = {};
  bool is_launch = false;
  uint64_t ns = 0;                                // the time that it takes
  uint64_t queued_ns = 0;                         // when it was queued, by the host's clock
  std::shared_ptr<EventStamp> records = nullptr;  // the recording that it makes at its end
  CUevent graph_event = nullptr;                  // the event that each run of a graph records
  const void* host = nullptr;                     // the host's memory that it copies from or to
  size_t host_bytes = 0;
  bool is_upload = false;
};

struct StreamCapture {
  CUstreamCaptureMode mode;
  std::thread::id thread;
  std::vector<QueuedWork> work = {};
  bool invalid = false;
};

struct CUstream_st {
  CUcontext context;
  std::deque<QueuedWork> queue = {};
  bool launched_last = false;  // the last work that was queued is a launch
  std::optional<StreamCapture> capture = std::nullopt;
};

struct CUgraph_st {
  CUcontext context;
  std::vector<QueuedWork> work;
};

struct CUgraphExec_st {
  CUcontext context;
  std::shared_ptr<const std::vector<QueuedWork>> work;
};

struct CUfunc_st {
  const testing::EmulatedImageKernel* kernel;
  CUcontext context;
  unsigned max_shared_bytes;
};

struct CUkern_st {
  const testing::EmulatedImageKernel* kernel;
  std::map<CUcontext, std::unique_ptr<CUfunc_st>> functions = {};
};

struct CUlib_st {
  std::map<std::string, CUkern_st> kernels;
};

}  // namespace larq_engine

namespace larq_engine::testing {

// Thrown by the functions of calls; the driver's function returns the result.
struct Refused {
  CUresult result;
};

// Objects that have handles. The use of a handle that names no object ends the program.
template <typename Object>
class Handles {
 public:
  Object* Add(Object object) {
    auto made = std::make_unique<Object>(std::move(object));
    Object* handle = made.get();
    objects_[handle] = std::move(made);
    return handle;
  }
  Object& Get(Object* handle, const char* kind) const {
    const auto found = objects_.find(handle);
    if (found == objects_.end())
      Misused("%p is no %s, or is no more", static_cast<void*>(handle), kind);
    return *found->second;
  }
  std::unique_ptr<Object> Remove(Object* handle, const char* kind) {
    Get(handle, kind);
    return std::move(objects_.extract(handle).mapped());
  }
  size_t size() const { return objects_.size(); }
  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }

 private:
  std::map<Object*, std::unique_ptr<Object>> objects_;
};

struct FakeDriverState {
  FakeDriverState();

  std::mutex mutex;  // guards all that follows

  int version;
  int device_count;
  int compute_capability;
  std::string lacking;  // the function that the driver lacks
  size_t device_memory;
  pid_t process = 0;  // the process that called cuInit

  uint64_t calls = 0;
  uint64_t failing_call = 0;
  CUresult failing_result = CUDA_SUCCESS;
  const char* failed_call = nullptr;
  bool failing = false;                 // the current call releases something and fails
  CUresult next_launch = CUDA_SUCCESS;  // the fault that the next launch makes
  CUresult broken = CUDA_SUCCESS;       // the fault that broke the context: the result of all calls
  uint64_t pageable_copies = 0;
  uint64_t forgiven_leaks = 0;
  uint64_t awaited_uploads = 0;  // the uploads that the next wait lasts for
  bool is_held = false;          // whether a thread is held in HoldWait
  uint64_t most_uploads = 0;     // that were queued at the same time
  uint64_t host_ns = 0;          // the host's clock, which each call moves on

  std::array<CUctx_st, 8> contexts;  // one for each device
  GuardedMemory memory;
  Handles<CUstream_st> streams;
  Handles<CUevent_st> events;
  Handles<CUgraph_st> graphs;
  Handles<CUgraphExec_st> execs;
  Handles<CUlib_st> libraries;
  std::vector<std::unique_ptr<CUstream_st>> destroyed;  // streams whose work is not done
  std::deque<QueuedWork> shared;                        // the queue of the legacy stream

  // Returns the context that the calling thread pushed last. Refused if there is none.
  CUcontext Current();
  // Returns the stream. Misused unless it is one of the current context.
  CUstream_st& CurrentStream(CUstream stream);
  // Return the kernel or function of a handle. Misused unless its library is loaded.
  CUkern_st& Kernel(CUkernel kernel);
  CUfunc_st& Function(CUfunction function);

  // Runs a piece of work, and also the next one if that begins early. Returns how many it ran.
  size_t Run(const QueuedWork& work, const QueuedWork* next);
  // Moves the host's clock on to the device's, for a thread that has waited for the device.
  void Wake() { host_ns = std::max(host_ns, now_ns_); }
  // Adds work to a stream's queue, or to the graph that the stream captures.
  void Enqueue(CUstream_st& stream, QueuedWork work);
  // Run queued work until the stamp is done, until a stream's queue is empty, or until all queues
  // are.
  void RunUntil(const EventStamp& stamp);
  void RunAll(CUstream_st& stream);
  void RunAll();
  void RunShared();
  // Holds a thread that waits for the device until what fake_cuda_hold_wait asks for has happened.
  void HoldWait();
  // Runs one piece of work that may run next, if there is one, for callers that poll.
  void RunSome();

  // Breaks the context by a kernel's fault: queued work never runs, and all calls fail.
  void Break(CUresult fault);

  // Frees pinned memory. Misused if a queued copy still uses it.
  void FreePinned(const void* pinned);

  // Called by functions that may not be called while a graph is captured. Refused during a capture,
  // which becomes invalid.
  void ForbidDuringCapture();

  void SetSeed(uint64_t seed);
  uint64_t Draw() { return seed == 0 ? 0 : random(); }

  uint64_t seed = 0;
  std::mt19937_64 random;

 private:
  std::vector<CUstream> Runnable();
  CUstream Next(CUstream needed);
  void RunFirst(CUstream_st& stream);

  uint64_t QueuedUploads() const;

  std::condition_variable_any uploaded_;
  uint64_t now_ns_ = 0;
};

FakeDriverState& TheFakeDriver();

// Returns the contexts that the calling thread has pushed.
std::vector<CUcontext>& PushedContexts();

// Each function without the part that is common to all calls, which fake_driver.cc has.
namespace calls {
#define LARQ_ENGINE_FAKE_CALL(name, parameters) void name parameters;
LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_CALL)
LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_CALL)
#undef LARQ_ENGINE_FAKE_CALL
}  // namespace calls

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_STATE_H_
