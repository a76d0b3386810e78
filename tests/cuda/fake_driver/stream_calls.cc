// Calls that queue work: copies, launches, events, graphs.
#include <algorithm>
#include <cstring>
#include <span>

#include "tests/cuda/fake_driver/state.h"

namespace larq_engine::testing::calls {
namespace {

// The times of queued work by the driver's clock, which tests rely on.
constexpr uint64_t kLaunchNs = 1000;
uint64_t CopyNs(size_t bytes) { return kLaunchNs + bytes / 50; }

void* Address(CUdeviceptr memory) { return reinterpret_cast<void*>(memory); }

// This is checked when work is queued, and again when it runs, because memory may have been freed
// by then.
void CheckIsOnDevice(const void* memory, size_t bytes, CUcontext context) {
  const MemoryBlock* block = TheFakeDriver().memory.Find(memory);
  if (block == nullptr || !block->on_device) Misused("%p is no device memory, or no more", memory);
  if (block->context != context) Misused("%p is memory of another device", memory);
  if (static_cast<const std::byte*>(memory) + bytes > block->begin + block->bytes) {
    Misused("%zu bytes at %p end behind their block", bytes, memory);
  }
}

void CheckIsOnHost(const void* memory, size_t bytes) {
  FakeDriverState& state = TheFakeDriver();
  const MemoryBlock* block = state.memory.Find(memory);
  if (block == nullptr) {
    ++state.pageable_copies;
  } else if (block->on_device) {
    Misused("%p is device memory, which the host does not see", memory);
  } else if (static_cast<const std::byte*>(memory) + bytes > block->begin + block->bytes) {
    Misused("%zu bytes at %p end behind their block", bytes, memory);
  }
}

CUevent_st& Event(CUevent event) { return TheFakeDriver().events.Get(event, "event"); }

// Returns the last recording of an event, as waiting threads see it.
std::shared_ptr<EventStamp> StampOf(CUevent event) {
  if (Event(event).captured) throw Refused{CUDA_ERROR_CAPTURED_EVENT};
  return Event(event).last;
}

// Runs a kernel. The driver's mutex is held meanwhile, so a kernel must not call the driver.
void RunKernel(const EmulatedImageKernel& kernel, const std::vector<std::byte>& args,
               const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
               unsigned shared_bytes, const std::function<void()>& complete_earlier) {
  FakeDriverState& state = TheFakeDriver();
  const uint64_t order = state.Draw();
  kernel.run(args.data(), grid.data(), block.data(), shared_bytes, order, state.Draw() % 2 == 1,
             complete_earlier);
}

// Returns the work of a launch, or work that breaks the device if the launch was made to fail.
QueuedWork Launched(QueuedWork work) {
  FakeDriverState& state = TheFakeDriver();
  const CUresult result = std::exchange(state.next_launch, CUDA_SUCCESS);
  if (result == CUDA_SUCCESS) return work;
  return {.run = [result] { TheFakeDriver().Break(result); }, .is_launch = work.is_launch};
}

void CheckIsWithin(unsigned value, unsigned most) {
  if (value == 0 || value > most) throw Refused{CUDA_ERROR_INVALID_VALUE};
}

void Launch(CUfunction function, const CUlaunchConfig& config, void** parameters, void** extra,
            bool is_early) {
  CUstream_st& own = TheFakeDriver().CurrentStream(config.hStream);
  const CUfunc_st& launched = TheFakeDriver().Function(function);
  if (launched.context != own.context) Misused("a kernel is launched on another device");
  if (parameters == nullptr || extra != nullptr) throw Refused{CUDA_ERROR_INVALID_VALUE};
  CheckIsWithin(config.gridDimX, 0x7FFFFFFF);
  CheckIsWithin(config.gridDimY, 65535);
  CheckIsWithin(config.gridDimZ, 65535);
  CheckIsWithin(config.blockDimX, 1024);
  CheckIsWithin(config.blockDimY, 1024);
  CheckIsWithin(config.blockDimZ, 64);
  CheckIsWithin(config.blockDimX * config.blockDimY * config.blockDimZ, 1024);
  if (config.sharedMemBytes > launched.max_shared_bytes) throw Refused{CUDA_ERROR_INVALID_VALUE};
  const auto* args = static_cast<const std::byte*>(parameters[0]);
  const auto run = [&kernel = *launched.kernel,
                    copy = std::vector<std::byte>(args, args + launched.kernel->args_bytes),
                    grid = std::array{config.gridDimX, config.gridDimY, config.gridDimZ},
                    block = std::array{config.blockDimX, config.blockDimY, config.blockDimZ},
                    shared_bytes =
                        config.sharedMemBytes](const std::function<void()>& complete_earlier) {
    RunKernel(kernel, copy, grid, block, shared_bytes, complete_earlier);
  };
  QueuedWork work = {.run = [run] { run({}); }, .is_launch = true, .ns = kLaunchNs};
  if (is_early) work.run_early = run;
  TheFakeDriver().Enqueue(own, Launched(std::move(work)));
}

}  // namespace

void cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  CUstream_st& own = TheFakeDriver().CurrentStream(stream);
  CheckIsOnHost(from, bytes);
  CheckIsOnDevice(Address(to), bytes, own.context);
  const auto run = [to, from, bytes, context = own.context] {
    CheckIsOnDevice(Address(to), bytes, context);
    std::memcpy(Address(to), from, bytes);
  };
  TheFakeDriver().Enqueue(
      own, {.run = run, .ns = CopyNs(bytes), .host = from, .host_bytes = bytes, .is_upload = true});
}

void cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  CUstream_st& own = TheFakeDriver().CurrentStream(stream);
  CheckIsOnHost(to, bytes);
  CheckIsOnDevice(Address(from), bytes, own.context);
  const auto run = [to, from, bytes, context = own.context] {
    CheckIsOnDevice(Address(from), bytes, context);
    std::memcpy(to, Address(from), bytes);
  };
  TheFakeDriver().Enqueue(own, {.run = run, .ns = CopyNs(bytes), .host = to, .host_bytes = bytes});
}

void cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  CUstream_st& own = TheFakeDriver().CurrentStream(stream);
  const auto check = [to, from, bytes, context = own.context] {
    CheckIsOnDevice(Address(from), bytes, context);
    CheckIsOnDevice(Address(to), bytes, context);
    if (std::max(to, from) - std::min(to, from) < bytes) Misused("a copy overlaps itself");
  };
  check();
  const auto run = [to, from, bytes, check] {
    check();
    std::memcpy(Address(to), Address(from), bytes);
  };
  TheFakeDriver().Enqueue(own, {.run = run, .ns = CopyNs(bytes)});
}

void cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                    CUstream stream, void** parameters, void** extra) {
  const CUlaunchConfig config = {.gridDimX = grid_x,
                                 .gridDimY = grid_y,
                                 .gridDimZ = grid_z,
                                 .blockDimX = block_x,
                                 .blockDimY = block_y,
                                 .blockDimZ = block_z,
                                 .sharedMemBytes = shared_bytes,
                                 .hStream = stream,
                                 .attrs = nullptr,
                                 .numAttrs = 0};
  Launch(function, config, parameters, extra, false);
}

void cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                      void** extra) {
  bool is_early = false;
  for (const CUlaunchAttribute& attribute : std::span(config->attrs, config->numAttrs)) {
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      Misused("launches have no attribute %u", attribute.id);
    }
    is_early = attribute.value.programmaticStreamSerializationAllowed != 0;
  }
  if (is_early && TheFakeDriver().compute_capability < 90) {
    Misused("a launch is to begin early on a chip that does not do that");
  }
  if (is_early && TheFakeDriver().version < 12030) {
    Misused("a launch is to begin early with a driver whose graphs do not know of that");
  }
  Launch(function, *config, parameters, extra, is_early);
}

void cuStreamCreate(CUstream* stream, unsigned flags) {
  if (flags > CU_STREAM_NON_BLOCKING) throw Refused{CUDA_ERROR_INVALID_VALUE};
  *stream = TheFakeDriver().streams.Add({.context = TheFakeDriver().Current()});
}

// Work that is queued still runs.
void cuStreamDestroy(CUstream stream) {
  FakeDriverState& state = TheFakeDriver();
  CUstream_st& own = state.streams.Get(stream, "stream");
  if (own.capture) Misused("a stream is destroyed while it records a graph");
  state.destroyed.push_back(state.streams.Remove(stream, "stream"));
}

void cuStreamSynchronize(CUstream stream) {
  if (stream == CU_STREAM_LEGACY) return TheFakeDriver().RunShared();
  CUstream_st& own = TheFakeDriver().streams.Get(stream, "stream");
  if (own.capture) {
    own.capture->invalid = true;
    throw Refused{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
  }
  if (!own.queue.empty()) TheFakeDriver().HoldWait();
  TheFakeDriver().RunAll(own);
  TheFakeDriver().Wake();
}

void cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  CUstream_st& own = TheFakeDriver().streams.Get(stream, "stream");
  if (own.capture) throw Refused{CUDA_ERROR_INVALID_VALUE};
  own.capture.emplace(StreamCapture{.mode = mode, .thread = std::this_thread::get_id()});
}

// Exchanges the mode of this thread. Here the mode protects no captures of other libraries, because
// there are none.
void cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode own = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(own, *mode);
}

void cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  FakeDriverState& state = TheFakeDriver();
  CUstream_st& own = state.streams.Get(stream, "stream");
  *graph = nullptr;
  if (!own.capture) throw Refused{CUDA_ERROR_INVALID_VALUE};
  if (own.capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      own.capture->thread != std::this_thread::get_id()) {
    throw Refused{CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD};
  }
  const StreamCapture capture = *std::exchange(own.capture, std::nullopt);
  if (capture.invalid) throw Refused{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED};
  if (state.failing) return;
  *graph = state.graphs.Add({.context = own.context, .work = capture.work});
}

void cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  FakeDriverState& state = TheFakeDriver();
  if (flags != 0) throw Refused{CUDA_ERROR_INVALID_VALUE};
  const CUgraph_st& own = state.graphs.Get(graph, "graph");
  *exec = state.execs.Add(
      {.context = own.context, .work = std::make_shared<const std::vector<QueuedWork>>(own.work)});
}

void cuGraphDestroy(CUgraph graph) { TheFakeDriver().graphs.Remove(graph, "graph"); }

// Launches that are queued still run.
void cuGraphExecDestroy(CUgraphExec exec) {
  TheFakeDriver().execs.Remove(exec, "launchable graph");
}

void cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  CUstream_st& own = TheFakeDriver().CurrentStream(stream);
  const CUgraphExec_st& graph = TheFakeDriver().execs.Get(exec, "launchable graph");
  if (graph.context != own.context) Misused("a graph is launched on another device");
  std::vector<QueuedWork> nodes = *graph.work;
  for (QueuedWork& node : nodes) {
    if (node.graph_event == nullptr) continue;
    node.records = Event(node.graph_event).last =
        std::make_shared<EventStamp>(EventStamp{.stream = stream});
  }
  const auto run = [nodes] {
    for (size_t i = 0; i < nodes.size() && TheFakeDriver().broken == CUDA_SUCCESS;) {
      i += TheFakeDriver().Run(nodes[i], i + 1 < nodes.size() ? &nodes[i + 1] : nullptr);
    }
  };
  TheFakeDriver().Enqueue(own, Launched({.run = run}));
}

void cuEventCreate(CUevent* event, unsigned flags) {
  if (flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING)) {
    throw Refused{CUDA_ERROR_INVALID_VALUE};
  }
  *event = TheFakeDriver().events.Add({.context = TheFakeDriver().Current(), .flags = flags});
}

void cuEventDestroy(CUevent event) { TheFakeDriver().events.Remove(event, "event"); }

void cuEventRecord(CUevent event, CUstream stream) {
  CUstream_st& own = TheFakeDriver().CurrentStream(stream);
  CUevent_st& recorded = Event(event);
  if (recorded.context != own.context) Misused("an event is recorded on another device");
  recorded.captured = own.capture.has_value();
  if (recorded.captured) return;
  recorded.last = std::make_shared<EventStamp>(EventStamp{.stream = stream});
  TheFakeDriver().Enqueue(own, {.records = recorded.last});
}

void cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  CUstream_st& own = TheFakeDriver().CurrentStream(stream);
  if (flags == 0) return calls::cuEventRecord(event, stream);
  if (flags != CU_EVENT_RECORD_EXTERNAL || !own.capture) throw Refused{CUDA_ERROR_INVALID_VALUE};
  if (Event(event).context != own.context) Misused("an event is recorded on another device");
  TheFakeDriver().Enqueue(own, {.graph_event = event});
}

void cuEventSynchronize(CUevent event) {
  const auto stamp = StampOf(event);
  if (stamp == nullptr || stamp->done) return;
  TheFakeDriver().HoldWait();
  TheFakeDriver().RunUntil(*stamp);
  TheFakeDriver().Wake();
}

void cuEventQuery(CUevent event) {
  const auto stamp = StampOf(event);
  if (stamp == nullptr || stamp->done) return;
  TheFakeDriver().RunSome();
  throw Refused{CUDA_ERROR_NOT_READY};
}

void cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  const auto first = StampOf(begin);
  const auto last = StampOf(end);
  const unsigned flags = Event(begin).flags | Event(end).flags;
  if (first == nullptr || last == nullptr || (flags & CU_EVENT_DISABLE_TIMING) != 0) {
    throw Refused{CUDA_ERROR_INVALID_HANDLE};
  }
  if (!first->done || !last->done) throw Refused{CUDA_ERROR_NOT_READY};
  *milliseconds =
      static_cast<float>((static_cast<double>(last->ns) - static_cast<double>(first->ns)) * 1e-6);
}

}  // namespace larq_engine::testing::calls
