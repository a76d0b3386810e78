// Tests that memory runs out once while a plan is made. The attempt fails, and later attempts are
// not affected by it.
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace {

// Number of allocations of this thread that succeed before one fails; below 0, none fails.
thread_local int allocations_left = -1;

void* Allocate(size_t bytes, size_t alignment) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  const size_t rounded = (bytes / alignment + 1) * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// These are not inlined, because compilers would see memory that is freed by another function than
// its own.
[[gnu::noinline]] void* operator new(size_t bytes) {
  return Allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return Allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace larq_engine::testing {
namespace {

// The first quantization absorbs two operators if there are 8 channels, and none if there is 1.
Graph Absorbing() {
  ModelBuilder builder(kTfLiteFloat32, {1, 4, 4, 8});
  builder.AddBinary(builtin::kMul, kTfLiteActNone);
  builder.AddBinary(builtin::kAdd, kTfLiteActNone);
  builder.AddQuantize().AddConv({.filters = 8}).AddPrelu();
  builder.AddBinary(builtin::kMul, kTfLiteActNone);
  builder.AddQuantize().AddConv({.filters = 8});
  return builder.Build();
}

class OutOfMemory : public ::testing::TestWithParam<int> {};

TEST_P(OutOfMemory, IsAnErrorOnce) {
  const DelegateOptions options = {{"num_threads", "1"}};
  const std::vector<int> shape = {1, 4, 4, GetParam()};
  const auto run = [&](int failing, bool* failed, Outputs* outputs) {
    const DelegatePtr delegate = CreateDelegate(options);
    MiniHost host(Absorbing());
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    if (GetParam() != 8) {
      ASSERT_TRUE(RunOnce(&host, 1, 0, outputs)) << host.errors();
      ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
    }
    allocations_left = failing;
    try {
      host.Allocate();
    } catch (const std::bad_alloc&) {  // thrown by the host itself
    }
    *failed = failing >= 0 && allocations_left < 0;
    allocations_left = -1;
    larq_engine_profile_start(delegate.get());
    char json[16384];
    larq_engine_profile_read(delegate.get(), json, sizeof(json));
    ASSERT_TRUE(RunOnce(&host, 7, 0, outputs)) << host.errors();
  };
  bool failed = false;
  Outputs expected;
  run(-1, &failed, &expected);
  int failing = 0;
  do {
    Outputs outputs;
    run(failing, &failed, &outputs);
    ASSERT_EQ(outputs, expected) << failing;
    ++failing;
  } while (failed && !HasFatalFailure());
  EXPECT_GT(failing, 100);
}

INSTANTIATE_TEST_SUITE_P(Channels, OutOfMemory, ::testing::Values(8, 1));

}  // namespace
}  // namespace larq_engine::testing
