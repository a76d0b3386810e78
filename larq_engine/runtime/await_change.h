// Sleeping on a number that another thread will change.
#ifndef LARQ_ENGINE_RUNTIME_AWAIT_CHANGE_H_
#define LARQ_ENGINE_RUNTIME_AWAIT_CHANGE_H_

#include <atomic>
#include <cstdint>

namespace larq_engine {

// Emscripten's C++ library polls in place of sleeping.
#if defined(__wasm_atomics__)

// Is set when a thread has trapped, after which the number may never change.
inline std::atomic<bool> g_has_thread_trapped{false};

// A guess: a failure may be told this late, and threads without work wake up this often.
inline constexpr double kSleepMilliseconds = 1000;

// JavaScript's Atomics sleep and wake. The code that V8 11.3 (Node 20) makes of the instruction
// memory.atomic.wait32 before it optimizes stores 8 bytes where 4 belong, over a local variable.
extern "C" {
__attribute__((import_module("larq_engine"), import_name("sleep"))) void larq_engine_js_sleep(
    const void* address, uint32_t old, double milliseconds);
__attribute__((import_module("larq_engine"), import_name("wake"))) void larq_engine_js_wake(
    const void* address);
}

inline void SleepWhile(const std::atomic<uint32_t>& value, uint32_t old) {
  while (value.load(std::memory_order_acquire) == old) {
    if (g_has_thread_trapped.load(std::memory_order_relaxed)) __builtin_trap();
    larq_engine_js_sleep(&value, old, kSleepMilliseconds);
  }
}

inline void NotifyAll(std::atomic<uint32_t>& value) { larq_engine_js_wake(&value); }

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
