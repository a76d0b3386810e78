#include "larq_engine/runtime/wasm_thread.h"

#include <atomic>
#include <system_error>

#include "larq_engine/runtime/await_change.h"

namespace larq_engine {
namespace {

constexpr int kMostWorkers = 64;

constexpr uint32_t kFree = 0, kBusy = 1;

// A worker that JavaScript has given to the module.
struct Worker {
  std::atomic<uint32_t> state{kFree};
  std::function<void()> function;  // written while the worker is free
};

Worker g_workers[kMostWorkers];

// Only the thread that opens and closes models adds workers and gives them functions.
int g_workers_added = 0;

}  // namespace

WasmThread::WasmThread(std::function<void()> function) : worker_(kNone) {
  for (int i = 0; i < g_workers_added; ++i) {
    if (g_workers[i].state.load(std::memory_order_acquire) != kFree) continue;
    g_workers[i].function = std::move(function);
    g_workers[i].state.store(kBusy, std::memory_order_release);
    NotifyAll(g_workers[i].state);
    worker_ = i;
    return;
  }
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "every worker of the page is in use");
}

void WasmThread::join() {
  if (worker_ == kNone) return;
  SleepWhile(g_workers[worker_].state, kBusy);
  worker_ = kNone;
}

}  // namespace larq_engine

// JavaScript calls these.
extern "C" {

// Adds a worker and returns its number, which it passes to larq_engine_serve; -1 if there are too
// many.
int larq_engine_add_worker() {
  using namespace larq_engine;
  return g_workers_added < kMostWorkers ? g_workers_added++ : -1;
}

// Computes what the worker is given, for as long as the worker lives.
void larq_engine_serve(int worker) {
  using namespace larq_engine;
  Worker& own = g_workers[worker];
  for (;;) {
    SleepWhile(own.state, kFree);
    own.function();
    own.state.store(kFree, std::memory_order_release);
    NotifyAll(own.state);
  }
}

// Ends the waiting of all threads by traps. JavaScript calls it after a trap in larq_engine_serve,
// which may have left a job that the others wait for.
void larq_engine_thread_trapped() {
  larq_engine::g_has_thread_trapped.store(true, std::memory_order_relaxed);
}

}  // extern "C"
