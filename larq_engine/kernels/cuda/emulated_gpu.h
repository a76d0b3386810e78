// A block of GPU threads on the CPU, for tests: kernels are compiled unchanged, and device.h gives
// them this in the place of CUDA. Where a GPU leaves something open, the worst case is chosen on
// purpose:
//   - Threads are fibers, which run in a chosen order, so that a missing barrier gives wrong
//     numbers. Under ThreadSanitizer they are system threads, and a missing barrier is a report.
//   - Asynchronous copies arrive as late as the rules allow, when they are waited for, or at once.
//   - Products of warpgroups, which are asynchronous too, are computed at once if copies are late,
//     and as late as the rules allow if copies are early. They see copies only after a fence.
//   - The writes of earlier launches are there only once a thread has waited for these launches.
//   - Shared memory is exactly as large as asked for, and full of rubbish.
// A kernel that breaks a rule ends the process with a message that names block and thread.
#ifndef LARQ_ENGINE_KERNELS_CUDA_EMULATED_GPU_H_
#define LARQ_ENGINE_KERNELS_CUDA_EMULATED_GPU_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "larq_engine/kernels/cuda/tma_rules.h"

#ifdef __SANITIZE_THREAD__
#include <condition_variable>
#include <thread>
#else
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace larq_engine::emulated_gpu {

inline constexpr size_t kWarpLanes = 32;

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct Options {
  // The order in which threads run, each time that one has to wait.
  enum Order { kInTurns, kInTurnsFromLast, kFirstWarpFirst, kLastWarpFirst, kRandom };
  Order order = kInTurns;
  uint64_t seed = 0;          // for kRandom
  bool early_copies = false;  // and late products
  // Completes the earlier launches, for a launch that begins early. It is called when a thread
  // first waits for them, and each thread has to wait. If it is empty, they are complete already.
  std::function<void()> complete_earlier = {};
};

struct Counters {
  int64_t bank_conflicts = 0;  // repeated reads of parts of an ldmatrix
  int64_t products = 0;        // of fragments, counted once for each warp
  int64_t copies = 0;          // asynchronous copies of threads
};

// One asynchronous copy of `from_bytes`; the rest of `bytes` becomes zeros.
struct Copy {
  unsigned char* to;
  const unsigned char* from;
  size_t bytes;
  size_t from_bytes;

  void Run() const {
    if (from_bytes > 0) std::memcpy(to, from, from_bytes);
    std::memset(to + from_bytes, 0, bytes - from_bytes);
  }
};

// A barrier at which a number of threads wait for each other.
struct Barrier {
  size_t expected = 0;
  size_t arrived = 0;
#ifdef __SANITIZE_THREAD__
  bool somebody_left = false;
  uint64_t generation = 0;
  std::mutex mutex;
  std::condition_variable all_arrived;
#endif
};

// A copy that arrives at a barrier with phases.
struct BoxCopy {
  cuda::MatrixMap matrix;
  int32_t x;
  int32_t y;
  uint32_t to;
};

// A barrier with phases: see emulated_tma.h.
struct PhaseBarrier {
  cuda::PhaseRule rule = {};
  bool is_fenced = false;
  std::vector<BoxCopy> copies = {};  // on their way
};

// A thread's part of a product of its warpgroup.
using Product = std::function<void()>;

struct Warp {
  // The operands that the lanes give to a collective operation, one after the other. There are two
  // sets that take turns: before a lane may write into the first set again, all lanes have come to
  // the operation in between, and so have read it.
  struct Operands {
    static constexpr size_t kMaxBytes = 96;  // for a lane
    alignas(16) unsigned char bytes[kWarpLanes * kMaxBytes];
    const void* operations[kWarpLanes];  // the same for all lanes, or it is a fault
  };
  Operands operands[2];
  Barrier barrier;
};

struct Block;

struct Thread {
  Dim3 index;
  size_t number = 0;  // in the block
  Block* block = nullptr;
  unsigned collectives = 0;                    // done so far
  std::vector<Copy> open_copies;               // not yet in a group
  std::vector<std::vector<Copy>> copy_groups;  // not yet waited for
  std::vector<Copy> unfenced_copies;           // not yet visible to products
  std::vector<uint32_t> unfenced_barriers;     // not yet visible to copies
  bool registers_are_fenced = false;
  bool has_waited_for_launches = false;
  std::vector<Product> open_products;
  std::vector<std::vector<Product>> product_groups;
#ifndef __SANITIZE_THREAD__
  const void* waits_at = nullptr;  // a barrier of either kind
  bool is_done = false;
  ucontext_t context = {};
  unsigned char* stack = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
#endif

  size_t lane() const { return number % kWarpLanes; }
};

struct Block {
  Dim3 index;
  Dim3 size;
  Dim3 grid;
  Options options;
  const std::function<void()>* kernel = nullptr;
  std::once_flag* earlier_launches = nullptr;  // of all blocks
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  Barrier barrier;
  std::map<uint32_t, PhaseBarrier> phase_barriers;  // by address
  unsigned char* shared = nullptr;
  unsigned char* fenced_shared = nullptr;  // as products see it
  size_t shared_bytes = 0;
  std::atomic<int64_t> bank_conflicts = 0;
  std::atomic<int64_t> products = 0;
  std::atomic<int64_t> copies = 0;
#ifdef __SANITIZE_THREAD__
  std::mutex phases_mutex;  // guards phase_barriers
  std::condition_variable phases_changed;
#else
  ucontext_t scheduler = {};
  const void* scheduler_stack = nullptr;
  size_t scheduler_stack_bytes = 0;
#endif

  Block(size_t thread_count, size_t warp_count) : threads(thread_count), warps(warp_count) {}
};

inline thread_local Thread* running = nullptr;

// Fibers change `running` without the compiler's knowledge, but stay on one system thread.
inline Thread& MyThread() { return *running; }
inline Block& MyBlock() { return *running->block; }
inline Warp& MyWarp() { return MyBlock().warps[running->number / kWarpLanes]; }
inline unsigned char* SharedMemory() { return MyBlock().shared; }

[[noreturn]] inline void Fail(const std::string& what) {
  std::fprintf(stderr, "emulated GPU: block (%u, %u, %u), thread %zu: %s\n", MyBlock().index.x,
               MyBlock().index.y, MyBlock().index.z, MyThread().number, what.c_str());
  std::abort();
}

inline constexpr const char* kDeadlock = "waits at a barrier that others never reach";

#ifdef __SANITIZE_THREAD__

inline void Wait(Barrier& barrier) {
  std::unique_lock lock(barrier.mutex);
  if (barrier.somebody_left) Fail(kDeadlock);
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    ++barrier.generation;
    barrier.all_arrived.notify_all();
    return;
  }
  const uint64_t generation = barrier.generation;
  barrier.all_arrived.wait(lock, [&] { return barrier.generation != generation; });
}

// Notes that a thread has ended, so that it will never come to the barrier.
inline void Leave(Barrier& barrier) {
  const std::lock_guard lock(barrier.mutex);
  barrier.somebody_left = true;
  if (barrier.arrived > 0) Fail(std::string("ends, and another ") + kDeadlock);
}

#else

// Switches from a fiber to the scheduler. All fibers of a block run on this system thread, and
// AddressSanitizer has to be told that the stack changes.
inline void SwitchToScheduler(Thread& thread) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(thread.is_done ? nullptr : &thread.fake_stack,
                                 thread.block->scheduler_stack,
                                 thread.block->scheduler_stack_bytes);
#endif
  swapcontext(&thread.context, &thread.block->scheduler);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(thread.fake_stack, nullptr, nullptr);
#endif
}

inline void Wait(Barrier& barrier) {
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    for (Thread& thread : MyBlock().threads) {
      if (thread.waits_at == &barrier) thread.waits_at = nullptr;
    }
    return;
  }
  MyThread().waits_at = &barrier;
  SwitchToScheduler(MyThread());
}

#endif

inline void WaitForEarlierLaunches() {
  MyThread().has_waited_for_launches = true;
  const std::function<void()>& complete = MyBlock().options.complete_earlier;
  if (!complete) return;
  std::call_once(*MyBlock().earlier_launches, [&complete] {
    Thread* const me = running;
    complete();  // may run a launch, on this thread's stack
    running = me;
  });
}

inline void BlockBarrier() { Wait(MyBlock().barrier); }
inline void WarpBarrier() { Wait(MyWarp().barrier); }

// Runs a collective operation: each lane of a warp gives `in` and gets rule(all, lane).
template <class In, class Rule>
auto Collective(const In& in, const Rule& rule) {
  static_assert(std::is_trivially_copyable_v<In> && sizeof(In) <= Warp::Operands::kMaxBytes);
  static constexpr char kOperation = 0;
  Thread& me = MyThread();
  Warp& warp = MyWarp();
  if (warp.barrier.expected != kWarpLanes) Fail("a collective operation needs a whole warp");
  Warp::Operands& operands = warp.operands[me.collectives++ % 2];
  std::memcpy(operands.bytes + me.lane() * sizeof(In), &in, sizeof(In));
  operands.operations[me.lane()] = &kOperation;
  WarpBarrier();
  if (operands.operations[(me.lane() + 1) % kWarpLanes] != &kOperation) {
    Fail("the lanes of a warp do different operations");
  }
  return rule(reinterpret_cast<const In*>(operands.bytes), static_cast<int>(me.lane()));
}

inline void CheckSharedAddress(uint32_t address, uint32_t bytes) {
  const size_t end = size_t{address} + bytes;
  if (address % bytes != 0) {
    Fail("shared address " + std::to_string(address) + " is not a multiple of " +
         std::to_string(bytes));
  }
  if (end > MyBlock().shared_bytes) {
    Fail("shared address " + std::to_string(address) + " is outside the block's " +
         std::to_string(MyBlock().shared_bytes) + " bytes");
  }
}

// Returns the `bytes` of shared memory at an address within it.
inline unsigned char* SharedAt(uint32_t address, uint32_t bytes) {
  CheckSharedAddress(address, bytes);
  return MyBlock().shared + address;
}

// Returns the same bytes as products see them.
inline const unsigned char* FencedSharedAt(uint32_t address, uint32_t bytes) {
  CheckSharedAddress(address, bytes);
  return MyBlock().fenced_shared + address;
}

// Makes a copy visible to products.
inline void Show(const Copy& copy) {
  std::memcpy(MyBlock().fenced_shared + (copy.to - MyBlock().shared), copy.to, copy.bytes);
}

inline void FenceCopies() {
  for (const Copy& copy : std::exchange(MyThread().unfenced_copies, {})) Show(copy);
}

inline void IssueCopy(const Copy& copy) {
  if (copy.from_bytes > 0 && reinterpret_cast<uintptr_t>(copy.from) % copy.bytes != 0) {
    Fail("an asynchronous copy's source is not a multiple of " + std::to_string(copy.bytes));
  }
  if (MyBlock().options.early_copies) {
    copy.Run();
    Show(copy);
  }
  MyThread().open_copies.push_back(copy);
  ++MyBlock().copies;
}

inline void CommitCopyGroup() {
  MyThread().copy_groups.push_back(std::exchange(MyThread().open_copies, {}));
}

// Waits until at most `left` groups are on their way.
inline void WaitForCopyGroups(size_t left) {
  auto& groups = MyThread().copy_groups;
  while (groups.size() > left) {
    if (!MyBlock().options.early_copies) {
      for (const Copy& copy : groups.front()) {
        copy.Run();
        MyThread().unfenced_copies.push_back(copy);
      }
    }
    groups.erase(groups.begin());
  }
}

inline void IssueProduct(const Product& product) {
  Thread& me = MyThread();
  constexpr size_t kWarpgroup = 4 * kWarpLanes;
  if ((me.number / kWarpgroup + 1) * kWarpgroup > MyBlock().threads.size()) {
    Fail("a product needs a whole warpgroup");
  }
  if (!me.registers_are_fenced) Fail("a product's registers have no fence since the last wait");
  if (!MyBlock().options.early_copies) product();
  me.open_products.push_back(product);
  if (me.lane() == 0) ++MyBlock().products;
}

inline void CommitProductGroup() {
  MyThread().product_groups.push_back(std::exchange(MyThread().open_products, {}));
}

inline void WaitForProductGroups(size_t left) {
  auto& groups = MyThread().product_groups;
  MyThread().registers_are_fenced = false;
  while (groups.size() > left) {
    if (MyBlock().options.early_copies) {
      for (const Product& product : groups.front()) product();
    }
    groups.erase(groups.begin());
  }
}

inline void RunThread(Thread& thread) {
  running = &thread;
  (*thread.block->kernel)();
  for (const auto& group : thread.copy_groups) {
    if (!group.empty()) Fail("asynchronous copies were not waited for");
  }
  if (!thread.open_copies.empty()) Fail("asynchronous copies are in no group");
  for (const auto& group : thread.product_groups) {
    if (!group.empty()) Fail("products were not waited for");
  }
  if (!thread.open_products.empty()) Fail("products are in no group");
  if (thread.block->options.complete_earlier && !thread.has_waited_for_launches) {
    Fail("it ends and has not waited for the launches before");
  }
}

#ifdef __SANITIZE_THREAD__

inline void RunBlock(Block& block) {
  std::vector<std::thread> threads;
  for (Thread& thread : block.threads) {
    threads.emplace_back([&block, &thread] {
      RunThread(thread);
      Leave(block.barrier);
      Leave(MyWarp().barrier);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#else

// Stacks of fibers, kept from block to block. Below each stack is a page that no one may access.
class Stacks {
 public:
  static constexpr size_t kBytes = size_t{256} << 10;

  ~Stacks() {
    for (unsigned char* stack : stacks_) munmap(stack - Page(), kBytes + Page());
  }
  unsigned char* At(size_t i) {
    while (stacks_.size() <= i) {
      void* mapped = mmap(nullptr, kBytes + Page(), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapped == MAP_FAILED || mprotect(mapped, Page(), PROT_NONE) != 0) throw std::bad_alloc();
      stacks_.push_back(static_cast<unsigned char*>(mapped) + Page());
    }
    return stacks_[i];
  }

 private:
  static size_t Page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  std::vector<unsigned char*> stacks_;
};

inline void RunFiber() {
  Thread& thread = MyThread();
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &thread.block->scheduler_stack,
                                  &thread.block->scheduler_stack_bytes);
#endif
  RunThread(thread);
  thread.is_done = true;
  SwitchToScheduler(thread);
}

inline void SwitchToThread(Thread& thread) {
  running = &thread;
#ifdef __SANITIZE_ADDRESS__
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, thread.stack, Stacks::kBytes);
#endif
  swapcontext(&thread.block->scheduler, &thread.context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

inline void RunBlock(Block& block) {
  // A launch may run while a thread of another launch waits for it, so each has its own stacks.
  static thread_local std::deque<Stacks> stacks_of_launches;
  static thread_local size_t running_launches = 0;
  if (stacks_of_launches.size() == running_launches) stacks_of_launches.emplace_back();
  Stacks& stacks = stacks_of_launches[running_launches++];
  for (Thread& thread : block.threads) {
    thread.stack = stacks.At(thread.number);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack;
    thread.context.uc_stack.ss_size = Stacks::kBytes;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, RunFiber, 0);
  }
  const Options& options = block.options;
  const bool greedy =
      options.order == Options::kFirstWarpFirst || options.order == Options::kLastWarpFirst;
  std::vector<Thread*> order;
  for (Thread& thread : block.threads) order.push_back(&thread);
  if (options.order == Options::kInTurnsFromLast || options.order == Options::kLastWarpFirst) {
    std::reverse(order.begin(), order.end());
  }
  std::mt19937_64 random(options.seed);
  for (;;) {
    if (options.order == Options::kRandom) std::shuffle(order.begin(), order.end(), random);
    bool somebody_ran = false;
    for (Thread* thread : order) {
      if (thread->is_done || thread->waits_at != nullptr) continue;
      somebody_ran = true;
      SwitchToThread(*thread);
      if (greedy) break;  // the first thread in order that can run goes on
    }
    if (somebody_ran) continue;
    for (Thread& thread : block.threads) {
      running = &thread;
      if (!thread.is_done) Fail(kDeadlock);
    }
    --running_launches;
    return;
  }
}

#endif

// Shared memory of a block, aligned for every swizzle.
class SharedBytes {
 public:
  explicit SharedBytes(size_t bytes)
      : bytes_(bytes),
        allocated_((bytes + kAlignment) / kAlignment * kAlignment),
        data_(static_cast<unsigned char*>(std::aligned_alloc(kAlignment, allocated_))) {
    if (data_ == nullptr) throw std::bad_alloc();
    std::memset(data_, 0xa5, allocated_);
#ifdef __SANITIZE_ADDRESS__
    ASAN_POISON_MEMORY_REGION(data_ + bytes_, allocated_ - bytes_);
#endif
  }
  ~SharedBytes() {
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(data_, allocated_);
#endif
    for (size_t i = bytes_; i < allocated_; ++i) {
      if (data_[i] != 0xa5) Fail("shared memory was written behind its end");
    }
    std::free(data_);
  }
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  unsigned char* data() { return data_; }

 private:
  static constexpr size_t kAlignment = 1024;
  size_t bytes_;
  size_t allocated_;
  unsigned char* data_;
};

// Runs kernel() in each thread of each block, one block after the other.
inline Counters Launch(const std::function<void()>& kernel, Dim3 grid, Dim3 size,
                       size_t shared_bytes, const Options& options) {
  Counters counters;
  std::once_flag earlier_launches;
  const size_t thread_count = size_t{size.x} * size.y * size.z;
  for (size_t i = 0; i < size_t{grid.x} * grid.y * grid.z; ++i) {
    Block block(thread_count, (thread_count + kWarpLanes - 1) / kWarpLanes);
    block.index = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                   static_cast<unsigned>(i / grid.x / grid.y)};
    block.size = size;
    block.grid = grid;
    block.options = options;
    block.kernel = &kernel;
    block.earlier_launches = &earlier_launches;
    block.barrier.expected = thread_count;
    for (size_t n = 0; n < thread_count; ++n) {
      Thread& thread = block.threads[n];
      thread.number = n;
      thread.index = {static_cast<unsigned>(n % size.x), static_cast<unsigned>(n / size.x % size.y),
                      static_cast<unsigned>(n / size.x / size.y)};
      thread.block = &block;
      ++block.warps[n / kWarpLanes].barrier.expected;
    }
    SharedBytes shared(shared_bytes);
    SharedBytes fenced_shared(shared_bytes);
    block.shared = shared.data();
    block.fenced_shared = fenced_shared.data();
    block.shared_bytes = shared_bytes;
    RunBlock(block);
    running = &block.threads[0];  // the thread that later faults are reported for
    for (const auto& [address, barrier] : block.phase_barriers) {
      if (barrier.rule.bytes != 0) Fail("copies of boxes were not waited for");
    }
    counters.bank_conflicts += block.bank_conflicts;
    counters.products += block.products;
    counters.copies += block.copies;
  }
  return counters;
}

}  // namespace larq_engine::emulated_gpu

// The names of CUDA that kernels use.
#define threadIdx (::larq_engine::emulated_gpu::MyThread().index)
#define blockIdx (::larq_engine::emulated_gpu::MyBlock().index)
#define blockDim (::larq_engine::emulated_gpu::MyBlock().size)
#define gridDim (::larq_engine::emulated_gpu::MyBlock().grid)

inline void __syncthreads() { larq_engine::emulated_gpu::BlockBarrier(); }
inline void __syncwarp() { larq_engine::emulated_gpu::WarpBarrier(); }

inline int __popc(uint32_t x) { return std::popcount(x); }
// Returns the sum of four products of signed bytes and `sum`, which wraps.
inline int __dp4a(int a, int b, int sum) {
  auto total = static_cast<uint32_t>(sum);
  for (int shift = 0; shift < 32; shift += 8) {
    const int product = static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
    total += static_cast<uint32_t>(product);
  }
  return static_cast<int>(total);
}
// Returns `sum` plus the halves of `a` times the two low bytes of `b`, all unsigned.
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return sum + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
inline uint32_t __float_as_uint(float x) { return std::bit_cast<uint32_t>(x); }
inline float __uint_as_float(uint32_t x) { return std::bit_cast<float>(x); }

inline uint32_t __ballot_sync(uint32_t lanes, bool bit) {
  using namespace larq_engine::emulated_gpu;
  if (lanes != ~uint32_t{0}) Fail("a ballot needs a whole warp");
  return Collective(bit, [](const bool* all, int) {
    uint32_t bits = 0;
    for (size_t i = 0; i < kWarpLanes; ++i) bits |= static_cast<uint32_t>(all[i]) << i;
    return bits;
  });
}

template <class T>
T __shfl_xor_sync(uint32_t lanes, T x, int distance) {
  using namespace larq_engine::emulated_gpu;
  if (lanes != ~uint32_t{0}) Fail("a shuffle needs a whole warp");
  return Collective(x, [distance](const T* all, int lane) { return all[lane ^ distance]; });
}

#endif  // LARQ_ENGINE_KERNELS_CUDA_EMULATED_GPU_H_
