#include "tests/cuda/fake_driver/fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tests/cuda/fake_driver/state.h"

namespace larq_engine::testing {
namespace {

using Names = std::initializer_list<std::string_view>;

bool IsOneOf(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool OnlyExplains(std::string_view name) {
  return IsOneOf(name, {"cuGetErrorName", "cuGetErrorString"});
}

bool NeedsNoInit(std::string_view name) { return IsOneOf(name, {"cuInit", "cuDriverGetVersion"}); }

bool Releases(std::string_view name) {
  return IsOneOf(name, {"cuCtxPopCurrent", "cuDevicePrimaryCtxRelease", "cuEventDestroy",
                        "cuGraphDestroy", "cuGraphExecDestroy", "cuLibraryUnload", "cuMemFree",
                        "cuMemFreeHost", "cuStreamDestroy", "cuStreamEndCapture"});
}

bool WorksOnABrokenDevice(std::string_view name) {
  return NeedsNoInit(name) || name.starts_with("cuDeviceGet") ||
         IsOneOf(name, {"cuCtxPushCurrent", "cuCtxPopCurrent"});
}

bool Launches(std::string_view name) {
  return IsOneOf(name, {"cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch"});
}

bool IsFault(CUresult result) {
  return result == CUDA_ERROR_ILLEGAL_ADDRESS || (result >= 710 && result <= 719);
}

CUresult Run(const std::function<void()>& call) {
  try {
    call();
  } catch (const Refused& refused) {
    return refused.result;
  }
  return TheFakeDriver().broken;
}

CUresult RunFailing(const char* name, const std::function<void()>& call, CUresult result) {
  FakeDriverState& state = TheFakeDriver();
  if (Releases(name)) {
    state.failing = true;
    Run(call);
    state.failing = false;
  }
  return result;
}

// Does what is common to all calls, and calls `call` for the rest.
CUresult Enter(const char* name, const std::function<void()>& call) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (OnlyExplains(name)) {
    try {
      call();
    } catch (const Refused& refused) {
      return refused.result;
    }
    return CUDA_SUCCESS;
  }
  constexpr uint64_t kCallNs = 2000;
  state.host_ns += kCallNs;
  if (state.process != getpid() && !NeedsNoInit(name)) return CUDA_ERROR_NOT_INITIALIZED;
  if (++state.calls == state.failing_call) {
    state.failed_call = name;
    if (!IsFault(state.failing_result)) return RunFailing(name, call, state.failing_result);
    if (Launches(name)) {
      state.next_launch = state.failing_result;
    } else {
      state.Break(state.failing_result);
      return RunFailing(name, call, state.failing_result);
    }
  }
  if (state.broken != CUDA_SUCCESS) {
    if (!WorksOnABrokenDevice(name)) return RunFailing(name, call, state.broken);
    Run(call);
    return CUDA_SUCCESS;
  }
  return Run(call);
}

template <typename Signature, Signature* kCall, size_t kName>
struct Entry;

constexpr const char* kNames[] = {
#define LARQ_ENGINE_FAKE_NAME(name, parameters) #name,
    LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_NAME)
        LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_NAME)
#undef LARQ_ENGINE_FAKE_NAME
};
enum Index : size_t {
#define LARQ_ENGINE_FAKE_INDEX(name, parameters) k_##name,
  LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_INDEX)
      LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_INDEX)
#undef LARQ_ENGINE_FAKE_INDEX
};

template <typename... Args, void (*kCall)(Args...), size_t kName>
struct Entry<void(Args...), kCall, kName> {
  static CUresult Function(Args... args) {
    return Enter(kNames[kName], [&] { kCall(args...); });
  }
};

void* const kFunctions[] = {
#define LARQ_ENGINE_FAKE_FUNCTION(name, parameters) \
  reinterpret_cast<void*>(Entry<void parameters, &calls::name, k_##name>::Function),
    LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_FUNCTION)
        LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_FAKE_FUNCTION)
#undef LARQ_ENGINE_FAKE_FUNCTION
};

void* FindFunction(std::string_view name) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  return found != std::end(kNames) ? kFunctions[found - std::begin(kNames)] : nullptr;
}

CUresult GetProcAddress(const char* name, void** function, int version, uint64_t flags,
                        CUdriverProcAddressQueryResult* status) {
  if (version != kCudaInterface || flags != 0) {
    Misused("%s is asked for with version %d", name, version);
  }
  *function = TheFakeDriver().lacking == name ? nullptr : FindFunction(name);
  const bool found = *function != nullptr;
  *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // namespace

void* FindFakeCudaSymbol(const char* name) {
  const std::string_view wanted = name;
  if (wanted == "cuDriverGetVersion") return FindFunction(wanted);
  if (wanted == "cuGetProcAddress_v2") return reinterpret_cast<void*>(GetProcAddress);
  return nullptr;
}

}  // namespace larq_engine::testing

using larq_engine::testing::FakeDriverState;
using larq_engine::testing::TheFakeDriver;

void fake_cuda_fail_call(uint64_t n, unsigned result) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.calls = 0;
  state.failing_call = n;
  state.failing_result = static_cast<larq_engine::CUresult>(result);
  state.failed_call = nullptr;
}

uint64_t fake_cuda_calls() {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.calls;
}

const char* fake_cuda_failed_call() {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.failed_call;
}

uint64_t fake_cuda_leaks() {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  uint64_t sum = 0;
  const auto add = [&sum](const char* kind, size_t count) {
    if (count != 0) std::fprintf(stderr, "fake CUDA driver: not released: %zu %s\n", count, kind);
    sum += count;
  };
  add("blocks of memory", state.memory.blocks());
  add("streams", state.streams.size());
  add("events", state.events.size());
  add("graphs", state.graphs.size());
  add("launchable graphs", state.execs.size());
  add("libraries", state.libraries.size());
  for (const auto& context : state.contexts) {
    add("times a context", static_cast<size_t>(context.retained));
  }
  add("contexts of this thread", larq_engine::testing::PushedContexts().size());
  return sum - state.forgiven_leaks;
}

void fake_cuda_forgive_leaks() {
  const uint64_t leaks = fake_cuda_leaks();
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.forgiven_leaks += leaks;
}

uint64_t fake_cuda_pageable_copies() {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.pageable_copies;
}

void fake_cuda_hold_wait(uint64_t uploads) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.awaited_uploads = uploads;
  state.most_uploads = 0;
}

int fake_cuda_is_held() {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.is_held ? 1 : 0;
}

uint64_t fake_cuda_most_uploads() {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.most_uploads;
}

void* fake_cuda_make_array(const void* data, uint64_t bytes, int device) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (device >= static_cast<int>(state.contexts.size())) return nullptr;
  std::byte* array =
      state.memory.Allocate(bytes, true, &state.contexts[static_cast<size_t>(device)]);
  if (array == nullptr) return nullptr;
  const auto* first = static_cast<const std::byte*>(data);
  state.shared.push_back({.run = [array, copy = std::vector<std::byte>(first, first + bytes)] {
    std::copy(copy.begin(), copy.end(), array);
  }});
  return array;
}

void fake_cuda_free_array(void* array) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.RunShared();
  state.RunAll();
  state.memory.Free(array, true);
}

void* fake_cuda_make_pinned(uint64_t bytes) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.memory.Allocate(bytes, false, state.contexts.data());
}

void fake_cuda_free_pinned(void* memory) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.FreePinned(memory);
}

void fake_cuda_set_seed(uint64_t seed) {
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.SetSeed(seed);
}

void fake_cuda_reset() {
  fake_cuda_fail_call(0, 0);
  FakeDriverState& state = TheFakeDriver();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.next_launch = larq_engine::CUDA_SUCCESS;
  state.broken = larq_engine::CUDA_SUCCESS;
  state.pageable_copies = 0;
}
