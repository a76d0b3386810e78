#include "tests/cuda/fake_driver/state.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace larq_engine::testing {
namespace {

// A held thread that has waited this long will wait forever.
constexpr std::chrono::seconds kLongestHold{20};

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string Text(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

void Drop(std::deque<QueuedWork>& queue) {
  for (const QueuedWork& work : queue) {
    if (work.records != nullptr) work.records->done = true;
  }
  queue.clear();
}

}  // namespace

FakeDriverState::FakeDriverState()
    : version(static_cast<int>(Setting("FAKE_CUDA_VERSION", 13000))),
      device_count(static_cast<int>(Setting("FAKE_CUDA_DEVICES", 1))),
      compute_capability(static_cast<int>(Setting("FAKE_CUDA_COMPUTE_CAPABILITY", 90))),
      lacking(Text("FAKE_CUDA_LACKS")),
      device_memory(static_cast<size_t>(Setting("FAKE_CUDA_MEMORY", uint64_t{1} << 30))) {
  for (size_t i = 0; i < contexts.size(); ++i) contexts[i].device = static_cast<int>(i);
  if (device_count > static_cast<int>(contexts.size())) Misused("%d devices", device_count);
  SetSeed(Setting("FAKE_CUDA_SEED", 0));
  if (const char* text = std::getenv("FAKE_CUDA_FAIL_CALL")) {
    char* colon = nullptr;
    failing_call = std::strtoull(text, &colon, 10);
    if (*colon != ':') Misused("FAKE_CUDA_FAIL_CALL: expected number:result, got '%s'", text);
    failing_result = static_cast<CUresult>(std::strtoul(colon + 1, nullptr, 10));
  }
}

FakeDriverState& TheFakeDriver() {
  // The state is never destroyed, because destructors of other objects still call the driver.
  static auto* const state = new FakeDriverState;
  return *state;
}

std::vector<CUcontext>& PushedContexts() {
  thread_local std::vector<CUcontext> contexts;
  return contexts;
}

CUcontext FakeDriverState::Current() {
  if (PushedContexts().empty()) throw Refused{CUDA_ERROR_INVALID_CONTEXT};
  const CUcontext context = PushedContexts().back();
  if (context->retained == 0) Misused("the current context was released");
  return context;
}

CUstream_st& FakeDriverState::CurrentStream(CUstream stream) {
  if (stream == nullptr) Misused("stream 0 is used, which others in the process wait for");
  CUstream_st& found = streams.Get(stream, "stream");
  if (found.context != Current()) Misused("a stream is used in the context of another device");
  return found;
}

void FakeDriverState::Enqueue(CUstream_st& stream, QueuedWork work) {
  const bool follows_launch = !stream.capture ? stream.launched_last
                              : stream.capture->work.empty()
                                  ? false
                                  : stream.capture->work.back().is_launch;
  if (work.run_early && !follows_launch) {
    Misused("a launch is to begin early, and there is no launch before it in its stream");
  }
  work.queued_ns = host_ns;
  if (!stream.capture) {
    stream.launched_last = work.is_launch;
    stream.queue.push_back(std::move(work));
    most_uploads = std::max(most_uploads, QueuedUploads());
    uploaded_.notify_all();
  } else {
    if (stream.capture->invalid) throw Refused{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED};
    stream.capture->work.push_back(std::move(work));
  }
}

size_t FakeDriverState::Run(const QueuedWork& work, const QueuedWork* next) {
  const bool is_early = next != nullptr && next->run_early && random() % 2 == 1;
  now_ns_ = std::max(now_ns_, work.queued_ns) + work.ns;
  if (is_early) {
    now_ns_ = std::max(now_ns_, next->queued_ns) + next->ns;
    next->run_early(work.run);
  } else if (work.run) {
    work.run();
  }
  if (work.records != nullptr) {
    work.records->done = true;
    work.records->ns = now_ns_;
  }
  return is_early ? 2 : 1;
}

void FakeDriverState::RunFirst(CUstream_st& stream) {
  // The work is taken out first, because it may clear the queue as it runs.
  std::deque<QueuedWork>& queue = stream.queue;
  const QueuedWork work = std::move(queue.front());
  queue.pop_front();
  const QueuedWork next = queue.empty() ? QueuedWork{} : queue.front();
  if (Run(work, &next) == 2 && !queue.empty()) queue.pop_front();
}

void FakeDriverState::Break(CUresult fault) {
  broken = fault;
  for (const auto& [handle, stream] : streams) Drop(stream->queue);
  for (const auto& stream : destroyed) Drop(stream->queue);
}

CUkern_st& FakeDriverState::Kernel(CUkernel kernel) {
  for (const auto& [handle, library] : libraries) {
    for (auto& [name, own] : library->kernels) {
      if (&own == kernel) return own;
    }
  }
  Misused("%p is no kernel of a library that is loaded", static_cast<void*>(kernel));
}

CUfunc_st& FakeDriverState::Function(CUfunction function) {
  for (const auto& [handle, library] : libraries) {
    for (const auto& [name, kernel] : library->kernels) {
      for (const auto& [context, own] : kernel.functions) {
        if (own.get() == function) return *own;
      }
    }
  }
  Misused("%p is no function of a library that is loaded", static_cast<void*>(function));
}

std::vector<CUstream> FakeDriverState::Runnable() {
  std::erase_if(destroyed, [](const auto& stream) { return stream->queue.empty(); });
  std::vector<CUstream> found;
  const auto add = [&found](CUstream stream) {
    if (!stream->queue.empty()) found.push_back(stream);
  };
  for (const auto& [handle, stream] : streams) add(handle);
  for (const auto& stream : destroyed) add(stream.get());
  return found;
}

CUstream FakeDriverState::Next(CUstream needed) {
  if (Draw() % 2 == 1) {
    const std::vector<CUstream> runnable = Runnable();
    return runnable[Draw() % runnable.size()];
  }
  return needed;
}

void FakeDriverState::RunUntil(const EventStamp& stamp) {
  while (!stamp.done && broken == CUDA_SUCCESS) RunFirst(*Next(stamp.stream));
}

void FakeDriverState::RunAll(CUstream_st& stream) {
  while (!stream.queue.empty()) RunFirst(*Next(&stream));
}

void FakeDriverState::RunAll() {
  for (auto runnable = Runnable(); !runnable.empty(); runnable = Runnable()) {
    RunFirst(*runnable[Draw() % runnable.size()]);
  }
}

void FakeDriverState::RunShared() {
  for (; !shared.empty(); shared.pop_front()) shared.front().run();
}

uint64_t FakeDriverState::QueuedUploads() const {
  uint64_t found = 0;
  for (const auto& [handle, stream] : streams) {
    found += static_cast<uint64_t>(std::ranges::count_if(stream->queue, &QueuedWork::is_upload));
  }
  return found;
}

void FakeDriverState::HoldWait() {
  if (awaited_uploads == 0) return;
  const uint64_t awaited = std::exchange(awaited_uploads, 0);
  is_held = true;
  if (!uploaded_.wait_for(mutex, kLongestHold, [&] { return most_uploads >= awaited; })) {
    Misused("a thread waits for the device, and meanwhile others do not queue their copies to it");
  }
  is_held = false;
}

void FakeDriverState::RunSome() {
  const std::vector<CUstream> runnable = Runnable();
  if (!runnable.empty()) RunFirst(*runnable[Draw() % runnable.size()]);
}

void FakeDriverState::FreePinned(const void* pinned) {
  const MemoryBlock* block = memory.Find(pinned);
  const auto check = [block](const CUstream_st& stream) {
    for (const QueuedWork& work : stream.queue) {
      const auto* host = static_cast<const std::byte*>(work.host);
      if (host != nullptr && block != nullptr && host < block->begin + block->bytes &&
          host + work.host_bytes > block->begin) {
        Misused("pinned memory at %p is freed before a queued copy is done",
                static_cast<void*>(block->begin));
      }
    }
  };
  for (const auto& [handle, stream] : streams) check(*stream);
  for (const auto& stream : destroyed) check(*stream);
  memory.Free(pinned, false);
}

void FakeDriverState::ForbidDuringCapture() {
  bool forbidden = false;
  for (const auto& [handle, stream] : streams) {
    if (!stream->capture) continue;
    const bool concerned = stream->capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
                           (stream->capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
                            stream->capture->thread == std::this_thread::get_id());
    stream->capture->invalid |= concerned;
    forbidden |= concerned;
  }
  if (forbidden) throw Refused{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
}

void FakeDriverState::SetSeed(uint64_t value) {
  seed = value;
  random.seed(value);
}

}  // namespace larq_engine::testing
