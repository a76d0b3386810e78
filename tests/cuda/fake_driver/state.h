// What the fake driver knows: contexts, streams with their queued work, events, graphs, images.
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

// One time that an event was recorded.
struct EventStamp {
  CUstream stream;
  bool done = false;
  uint64_t ns = 0;
};

struct CUevent_st {
  CUcontext context;
  unsigned flags;
  std::shared_ptr<EventStamp> last = nullptr;
  bool captured = false;  // last recorded into a graph
};

struct QueuedWork {
  std::function<void()> run = {};
  // Of a launch that may begin early: runs it while what is before it is not complete, which it
  // completes with its argument.
  std::function<void(const std::function<void()>& complete_earlier)> run_early = {};
  bool is_launch = false;
  uint64_t ns = 0;                                // that it takes
  uint64_t queued_ns = 0;                         // by the host's clock: it begins later
  std::shared_ptr<EventStamp> records = nullptr;  // behind it
  CUevent graph_event = nullptr;                  // that a graph records each time it runs
  const void* host = nullptr;                     // memory that it copies from or to
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
  bool launched_last = false;  // what was queued last is a launch
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

// Thrown by what a call does; the call returns it.
struct Refused {
  CUresult result;
};

// Objects that have handles. A handle that is none ends the program.
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
  std::string lacking;  // the function that it does not have
  size_t device_memory;
  pid_t process = 0;  // that called cuInit

  uint64_t calls = 0;
  uint64_t failing_call = 0;
  CUresult failing_result = CUDA_SUCCESS;
  const char* failed_call = nullptr;
  bool failing = false;                 // the call that runs releases something and fails
  CUresult next_launch = CUDA_SUCCESS;  // what the next launch does
  CUresult broken = CUDA_SUCCESS;       // by what: the result of all calls
  uint64_t pageable_copies = 0;
  uint64_t forgiven_leaks = 0;
  uint64_t awaited_uploads = 0;  // that the next wait lasts for
  bool is_held = false;          // a thread that waits
  uint64_t most_uploads = 0;     // that were queued together
  uint64_t host_ns = 0;          // the host's clock, which each call of it takes

  std::array<CUctx_st, 8> contexts;  // of the devices
  GuardedMemory memory;
  Handles<CUstream_st> streams;
  Handles<CUevent_st> events;
  Handles<CUgraph_st> graphs;
  Handles<CUgraphExec_st> execs;
  Handles<CUlib_st> libraries;
  std::vector<std::unique_ptr<CUstream_st>> destroyed;  // with work that is not done
  std::deque<QueuedWork> shared;  // of the stream that all in the process share

  // The context that the calling thread has pushed last. Refused if there is none.
  CUcontext Current();
  // Misused unless the handle is of the current context.
  CUstream_st& CurrentStream(CUstream stream);
  // Misused unless the handle is of a library that is loaded.
  CUkern_st& Kernel(CUkernel kernel);
  CUfunc_st& Function(CUfunction function);

  // Runs a piece of work, and the one behind it if that begins early: tells how many they were.
  size_t Run(const QueuedWork& work, const QueuedWork* next);
  // For a thread that has waited for the device: it is not before what it has waited for.
  void Wake() { host_ns = std::max(host_ns, now_ns_); }
  // To a stream's queue, or the graph that it records.
  void Enqueue(CUstream_st& stream, QueuedWork work);
  // Runs what is queued until the stamp, or all of the stream, is done.
  void RunUntil(const EventStamp& stamp);
  void RunAll(CUstream_st& stream);
  void RunAll();
  void RunShared();
  // Before a thread waits for the device, until what fake_cuda_hold_wait asks for.
  void HoldWait();
  // One of what may run next, if there is something: for those who ask again and again.
  void RunSome();

  // A kernel's fault: what is queued never runs, and all calls fail.
  void Break(CUresult fault);

  // Misused if a queued copy still looks at it.
  void FreePinned(const void* pinned);

  // What may not be called while a graph is recorded. Refused, and the recording is of no use.
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

// The contexts that the calling thread has pushed.
std::vector<CUcontext>& PushedContexts();

// What each function does, without what is common to all (calls.cc).
namespace calls {
#define LARQ_ENGINE_FAKE_CALL(name, parameters) void name parameters;
LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_CALL)
LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_CALL)
#undef LARQ_ENGINE_FAKE_CALL
}  // namespace calls

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_STATE_H_
