// A thread of WebAssembly, with the part of std::thread's interface that the pool uses. A module
// cannot start threads by itself: JavaScript starts workers, gives them to the module, and each
// waits in it for work.
#ifndef LARQ_ENGINE_RUNTIME_WASM_THREAD_H_
#define LARQ_ENGINE_RUNTIME_WASM_THREAD_H_

#include <functional>
#include <utility>

namespace larq_engine {

class WasmThread {
 public:
  // Runs the function on a worker that is free. Throws std::system_error if there is none.
  explicit WasmThread(std::function<void()> function);
  WasmThread(WasmThread&& other) noexcept : worker_(std::exchange(other.worker_, kNone)) {}
  WasmThread& operator=(WasmThread&& other) noexcept {
    std::swap(worker_, other.worker_);
    return *this;
  }
  WasmThread(const WasmThread&) = delete;
  WasmThread& operator=(const WasmThread&) = delete;

  // Waits until the function has returned. Its worker is free from then on.
  void join();

 private:
  static constexpr int kNone = -1;

  int worker_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_WASM_THREAD_H_
