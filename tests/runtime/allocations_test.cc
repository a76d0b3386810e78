// Tests that a run allocates nothing. The counter sees all allocations of the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

TEST(Allocations, ARunMakesNone) { GTEST_SKIP() << "the sanitizer has an allocator of its own"; }

#else

namespace {
std::atomic<int64_t> allocations{0};
}

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  ++allocations;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"

namespace larq_engine::testing {
namespace {

Graph ResidualGraph() {
  ModelBuilder builder(kTfLiteFloat32, {1, 12, 12, 40});
  const int input = builder.LastTensor();
  builder.AddQuantize().AddConv({.filters = 40}).AddPrelu();
  builder.AddBinary(builtin::kAdd, kTfLiteActNone, input);
  const int shortcut = builder.LastTensor();
  builder.AddQuantize().AddConv({.filters = 24, .output = kTfLiteInt32}).AddPool({});
  builder.AddConv({.filters = 40, .padding = kValid}).AddFloatPool({});
  builder.AddRelu(builtin::kRelu).AddConcatenation({builder.LastTensor()});
  Graph graph = builder.Build();
  graph.outputs.push_back(shortcut);
  return graph;
}

TEST(Allocations, AreCounted) {
  const int64_t before = allocations;
  const DelegatePtr delegate = CreateDelegate({});
  EXPECT_GT(allocations, before);
}

TEST(Allocations, ARunMakesNone) {
  for (const char* kernel : {"auto", "reference"}) {
    for (const char* threads : {"1", "2"}) {
      for (const char* fuse : {"on", "off"}) {
        SCOPED_TRACE(std::string(kernel) + ", threads " + threads + ", fuse " + fuse);
        const DelegatePtr delegate =
            CreateDelegate({{"kernel", kernel}, {"num_threads", threads}, {"fuse", fuse}});
        Graph graph = ResidualGraph();
        if (std::string(fuse) == "off") {
          graph = ModelBuilder(kTfLiteInt8, {1, 12, 12, 40})
                      .AddQuantize()
                      .AddConv({.filters = 24, .output = kTfLiteInt32})
                      .AddConv({.filters = 24, .output = kTfLiteInt8})
                      .Build();
        }
        MiniHost host(graph);
        ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
        for (int batch : {1, 3}) {
          ASSERT_EQ(host.ResizeInput(0, std::vector<int>{batch, 12, 12, 40}), kTfLiteOk);
          ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
          FillInputs(&host, 1);
          ASSERT_EQ(host.Invoke(), kTfLiteOk) << host.errors();
          const int64_t before = allocations;
          for (int run = 0; run < 5; ++run) host.Invoke();
          EXPECT_EQ(allocations - before, 0) << "batch " << batch;
        }
      }
    }
  }
}

}  // namespace
}  // namespace larq_engine::testing

#endif
