// Sleeping on a number that another thread will change.
#ifndef LARQ_ENGINE_RUNTIME_AWAIT_CHANGE_H_
#define LARQ_ENGINE_RUNTIME_AWAIT_CHANGE_H_

#include <atomic>
#include <cstdint>

namespace larq_engine {

// Emscripten's C++ library polls in place of sleeping, so WebAssembly's own instructions are used.
#if defined(__wasm_atomics__)

// Is set when a thread has trapped, after which the number may never change.
inline std::atomic<bool> g_has_thread_trapped{false};

// A guess: a failure may be told this late, and threads without work wake up this often.
inline constexpr int64_t kSleepNs = 1'000'000'000;

inline void SleepWhile(const std::atomic<uint32_t>& value, uint32_t old) {
  auto* const address = reinterpret_cast<int*>(const_cast<std::atomic<uint32_t>*>(&value));
  while (value.load(std::memory_order_acquire) == old) {
    if (g_has_thread_trapped.load(std::memory_order_relaxed)) __builtin_trap();
    __builtin_wasm_memory_atomic_wait32(address, static_cast<int>(old), kSleepNs);
  }
}

inline void NotifyAll(std::atomic<uint32_t>& value) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&value), ~0u);
}

#else

// Returns once `value` differs from `old`.
inline void SleepWhile(const std::atomic<uint32_t>& value, uint32_t old) {
  value.wait(old, std::memory_order_acquire);
}

// Wakes those who sleep on it.
inline void NotifyAll(std::atomic<uint32_t>& value) { value.notify_all(); }

#endif

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_AWAIT_CHANGE_H_
