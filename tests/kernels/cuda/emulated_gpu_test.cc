// Tests that the emulated GPU reports each broken rule, by a wrong number or by ending with its
// name. Faults between threads are reported by ThreadSanitizer, so those tests are for fibers.
#include "larq_engine/kernels/cuda/emulated_gpu.h"

#include <array>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/cuda/ptx.h"
#include "larq_engine/kernels/cuda/tma.h"
#include "larq_engine/kernels/cuda/wgmma.h"
#include "tests/common/seed.h"

namespace larq_engine::emulated_gpu {
namespace {

using testing::Random;

constexpr std::array<Options::Order, 5> kOrders = {Options::kInTurns, Options::kInTurnsFromLast,
                                                   Options::kFirstWarpFirst,
                                                   Options::kLastWarpFirst, Options::kRandom};

// Runs threads that write into shared memory and read what their neighbours wrote.
std::vector<int> PassOn(bool with_barrier, Options::Order order) {
  constexpr unsigned kThreads = 96;
  std::vector<int> got(kThreads, -1);
  const auto kernel = [&] {
    int* shared = reinterpret_cast<int*>(SharedMemory());
    const unsigned me = threadIdx.x;
    shared[me] = static_cast<int>(me);
    if (with_barrier) __syncthreads();
    got[me] = shared[(me + 1) % kThreads];
  };
  Launch(kernel, {}, {kThreads}, kThreads * sizeof(int), {.order = order, .seed = 1});
  return got;
}

TEST(EmulatedGpu, BarrierMakesWritesVisible) {
  for (const Options::Order order : kOrders) {
    const std::vector<int> got = PassOn(true, order);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<int>((i + 1) % 96));
  }
}

TEST(EmulatedGpu, IndicesCoverGridAndBlock) {
  std::set<std::array<unsigned, 6>> seen;
  std::mutex mutex;
  const auto kernel = [&] {
    const std::lock_guard lock(mutex);
    seen.insert({blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z});
    EXPECT_EQ(blockDim.y, 3u);
    EXPECT_EQ(gridDim.z, 2u);
  };
  Launch(kernel, {3, 1, 2}, {4, 3, 2}, 0, {});
  EXPECT_EQ(seen.size(), 3u * 1 * 2 * 4 * 3 * 2);
}

TEST(EmulatedGpu, CollectivesSeeAllLanes) {
  std::vector<uint32_t> ballots(64);
  std::vector<int> neighbours(64);
  const auto kernel = [&] {
    const unsigned me = threadIdx.x;
    ballots[me] = __ballot_sync(~0u, me % 3 == 0);
    neighbours[me] = __shfl_xor_sync(~0u, static_cast<int>(me), 5);
  };
  for (const Options::Order order : kOrders) {
    Launch(kernel, {}, {64}, 0, {.order = order, .seed = 2});
    for (unsigned i = 0; i < 64; ++i) {
      ASSERT_EQ(ballots[i], i < 32 ? 0x49249249u : 0x92492492u);
      ASSERT_EQ(neighbours[i], static_cast<int>(i ^ 5));
    }
  }
}

TEST(EmulatedGpu, CopiesArriveAtTheWaitOrAtOnce) {
  alignas(16) const std::array<uint32_t, 4> from = {1, 2, 3, 4};
  for (const bool early : {false, true}) {
    std::array<uint32_t, 4> before = {};
    std::array<uint32_t, 4> after = {};
    const auto kernel = [&] {
      unsigned char* shared = SharedMemory();
      cuda::CopyAsync<16>(0, from.data(), 8);
      cuda::CommitCopies();
      std::memcpy(before.data(), shared, 16);
      cuda::WaitCopies<0>();
      std::memcpy(after.data(), shared, 16);
    };
    Launch(kernel, {}, {1}, 16, {.early_copies = early});
    EXPECT_EQ(before[0], early ? 1 : 0xa5a5a5a5u);
    EXPECT_EQ(after, (std::array<uint32_t, 4>{1, 2, 0, 0}));
  }
}

TEST(EmulatedGpu, WaitLeavesTheLastGroups) {
  alignas(4) const std::array<uint32_t, 3> from = {7, 8, 9};
  std::array<uint32_t, 3> seen = {};
  const auto kernel = [&] {
    for (uint32_t i = 0; i < 3; ++i) {
      cuda::CopyAsync<4>(4 * i, &from[i], 4);
      cuda::CommitCopies();
    }
    cuda::WaitCopies<1>();
    std::memcpy(seen.data(), SharedMemory(), 12);
    cuda::WaitCopies<0>();
  };
  Launch(kernel, {}, {1}, 12, {});
  EXPECT_EQ(seen, (std::array<uint32_t, 3>{7, 8, 0xa5a5a5a5u}));
}

// Compares C of a product of bits with its definition.
TEST(EmulatedGpu, MmaMultipliesMatrices) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  bool a[16][256];
  bool b[8][256];
  for (auto& row : a) {
    for (bool& bit : row) bit = random.Word() & 1;
  }
  for (auto& column : b) {
    for (bool& bit : column) bit = random.Word() & 1;
  }
  std::vector<cuda::FragmentC> c(32);
  const auto kernel = [&] {
    const size_t lane = threadIdx.x;
    const size_t g = lane / 4;
    const size_t t = lane % 4;
    cuda::FragmentA fa{};
    cuda::FragmentB fb{};
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 32; ++j) {
        fa.r[i] |= static_cast<uint32_t>(a[g + 8 * (i % 2)][128 * (i / 2) + 32 * t + j]) << j;
        if (i < 2) fb.r[i] |= static_cast<uint32_t>(b[g][128 * i + 32 * t + j]) << j;
      }
    }
    c[lane] = {{1, 2, 3, 4}};
    cuda::MmaAnd(c[lane], fa, fb);
  };
  const Counters counters = Launch(kernel, {}, {32}, 0, {});
  EXPECT_EQ(counters.products, 1);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      int expected = i + 1;
      for (int k = 0; k < 256; ++k) {
        expected += a[lane / 4 + 8 * (i / 2)][k] && b[2 * (lane % 4) + i % 2][k];
      }
      ASSERT_EQ(c[static_cast<size_t>(lane)].r[i], expected);
    }
  }
}

// ---- Launches before this one

enum class Waits { kBefore, kAfter };

// Returns what the threads of three blocks read of the earlier launch's output.
std::vector<int> ReadEarly(Waits waits, Options::Order order) {
  int written = 1;
  int completed = 0;
  std::vector<int> read;
  std::mutex mutex;
  const auto kernel = [&] {
    if (waits == Waits::kBefore) cuda::WaitForEarlierLaunches();
    {
      const std::lock_guard lock(mutex);
      read.push_back(written);
    }
    if (waits == Waits::kAfter) {
      __syncthreads();
      cuda::WaitForEarlierLaunches();
    }
  };
  Launch(kernel, {3}, {64}, 0, {.order = order, .complete_earlier = [&] {
                                  written = 2;
                                  ++completed;
                                }});
  EXPECT_EQ(completed, 1);
  return read;
}

TEST(EmulatedGpu, WhatEarlierLaunchesWriteIsThereForThoseWhoHaveWaited) {
  for (const Options::Order order : kOrders) {
    EXPECT_EQ(ReadEarly(Waits::kBefore, order), std::vector<int>(3 * 64, 2));
  }
}

#ifndef __SANITIZE_THREAD__  // which reports it
TEST(EmulatedGpu, WhoReadsBeforeItWaitsReadsWhatWasThere) {
  for (const Options::Order order : kOrders) {
    std::vector<int> expected(3 * 64, 2);
    std::fill_n(expected.begin(), 64, 1);
    EXPECT_EQ(ReadEarly(Waits::kAfter, order), expected);
  }
}
#endif

TEST(EmulatedGpu, ALaunchRunsWhileAThreadOfTheNextOneWaitsForIt) {
  for (const Options::Order order : kOrders) {
    std::vector<int> sums(64);
    const auto earlier = [&sums] {
      sums[threadIdx.x] = static_cast<int>(threadIdx.x);
      __syncthreads();
      const int neighbour = sums[(threadIdx.x + 1) % 64];
      __syncthreads();
      sums[threadIdx.x] += neighbour;
    };
    const auto later = [&sums] {
      cuda::WaitForEarlierLaunches();
      __syncthreads();
      sums[threadIdx.x] *= 10;
    };
    Launch(later, {}, {64}, 0, {.order = order, .complete_earlier = [&] {
                                  Launch(earlier, {}, {64}, 0, {.order = order});
                                }});
    for (int i = 0; i < 64; ++i) EXPECT_EQ(sums[static_cast<size_t>(i)], 10 * (i + (i + 1) % 64));
  }
}

TEST(EmulatedGpuDeathTest, AThreadEndsWithoutHavingWaitedForEarlierLaunches) {
  const auto kernel = [] {
    if (threadIdx.x != 5) cuda::WaitForEarlierLaunches();
  };
  EXPECT_DEATH(Launch(kernel, {}, {32}, 0, {.complete_earlier = [] {}}),
               "thread 5: it ends and has not waited for the launches before");
  Launch(kernel, {}, {32}, 0, {});
}

// Compares C of a product of bytes with its definition.
TEST(EmulatedGpu, MmaBytesMultipliesMatrices) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  int8_t a[16][32];
  int8_t b[8][32];
  for (auto& row : a) {
    for (int8_t& byte : row) byte = static_cast<int8_t>(random.Word());
  }
  for (auto& column : b) {
    for (int8_t& byte : column) byte = static_cast<int8_t>(random.Word());
  }
  std::vector<cuda::FragmentC> c(32);
  const auto kernel = [&] {
    const size_t lane = threadIdx.x;
    const size_t g = lane / 4;
    const size_t t = lane % 4;
    cuda::FragmentA fa;
    cuda::FragmentB fb;
    for (size_t i = 0; i < 4; ++i) {
      std::memcpy(&fa.r[i], &a[g + 8 * (i % 2)][16 * (i / 2) + 4 * t], 4);
      if (i < 2) std::memcpy(&fb.r[i], &b[g][16 * i + 4 * t], 4);
    }
    c[lane] = {{1, 2, 3, 4}};
    cuda::MmaBytes(c[lane], fa, fb);
  };
  EXPECT_EQ(Launch(kernel, {}, {32}, 0, {}).products, 1);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      int expected = i + 1;
      for (int k = 0; k < 32; ++k) {
        expected += a[lane / 4 + 8 * (i / 2)][k] * b[2 * (lane % 4) + i % 2][k];
      }
      ASSERT_EQ(c[static_cast<size_t>(lane)].r[i], expected);
    }
  }
}

// Compares the number of bits that differ with its definition.
TEST(EmulatedGpu, MmaXorComparesMatrices) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  bool a[8][128];
  bool b[8][128];
  for (auto* matrix : {&a, &b}) {
    for (auto& row : *matrix) {
      for (bool& bit : row) bit = random.Word() & 1;
    }
  }
  std::vector<cuda::XorFragmentC> c(32);
  const auto kernel = [&] {
    const size_t lane = threadIdx.x;
    uint32_t fa = 0;
    uint32_t fb = 0;
    for (size_t j = 0; j < 32; ++j) {
      fa |= static_cast<uint32_t>(a[lane / 4][32 * (lane % 4) + j]) << j;
      fb |= static_cast<uint32_t>(b[lane / 4][32 * (lane % 4) + j]) << j;
    }
    c[lane] = {{1, 2}};
    cuda::MmaXor(c[lane], fa, fb);
  };
  EXPECT_EQ(Launch(kernel, {}, {32}, 0, {}).products, 1);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2; ++i) {
      int expected = i + 1;
      for (int k = 0; k < 128; ++k) expected += a[lane / 4][k] != b[2 * (lane % 4) + i][k];
      ASSERT_EQ(c[static_cast<size_t>(lane)].r[i], expected);
    }
  }
}

// Loads 32 rows of 16 bytes, `pitch` bytes from one row to the next.
Counters LoadRows(uint32_t pitch, std::vector<uint32_t>& words) {
  words.assign(128, 0);
  const auto kernel = [&] {
    const uint32_t lane = threadIdx.x;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t word = 4 * lane + i;
      std::memcpy(SharedMemory() + lane * pitch + 4 * i, &word, 4);
    }
    __syncthreads();
    uint32_t r[4];
    cuda::LoadMatrix4(r, lane * pitch);
    for (uint32_t i = 0; i < 4; ++i) words[32 * i + lane] = r[i];
  };
  return Launch(kernel, {}, {32}, 31 * pitch + 16, {});
}

TEST(EmulatedGpu, LoadMatrixReadsRowsAndCountsConflicts) {
  std::vector<uint32_t> words;
  EXPECT_EQ(LoadRows(16, words).bank_conflicts, 0);
  // Lane 4 * row + word has word `word` of row `row`.
  for (uint32_t i = 0; i < 128; ++i) ASSERT_EQ(words[i], i);
  EXPECT_EQ(LoadRows(64, words).bank_conflicts, 4 * 3);
  EXPECT_EQ(LoadRows(128, words).bank_conflicts, 4 * 7);
}

// A product of two matrices with 64 and kN rows of 1024 bits, copied into the layout of
// RowsDescriptor.
template <int kN>
struct WarpgroupProduct {
  enum Fault { kNone, kNoFenceOfCopies, kNoFence, kNoWait, kNoCommit, kOtherMatrix };

  alignas(16) std::array<uint32_t, 64 * 32> a;
  alignas(16) std::array<uint32_t, size_t{kN} * 32> b;
  std::array<std::array<int32_t, kN>, 64> product = {};

  void Run(const Options& options, Fault fault = kNone) {
    const auto kernel = [&] {
      const uint32_t thread = threadIdx.x;
      for (uint32_t i = thread; i < (64 + kN) * 8; i += 128) {
        const uint32_t* from = i < 64 * 8 ? &a[4 * i] : &b[4 * i - 64 * 32];
        cuda::CopyAsync<16>(i / 8 * 128 + (i ^ i / 8) % 8 * 16, from, 16);
      }
      cuda::CommitCopies();
      cuda::WaitCopies<0>();
      if (fault != kNoFenceOfCopies) cuda::FenceForProducts();
      __syncthreads();
      int32_t d[kN / 2] = {};
      if (fault != kNoFence) cuda::WgmmaFence(d);
      for (uint32_t k = 0; k < 4; ++k) {
        const uint64_t other = fault == kOtherMatrix ? thread % 2 : 0;
        cuda::WgmmaAnd<kN>(d, cuda::RowsDescriptor(32 * k),
                           cuda::RowsDescriptor(64 * 128 + 32 * k) + other);
      }
      if (fault != kNoCommit) cuda::WgmmaCommit();
      if (fault != kNoWait) cuda::WgmmaWait<0>(d);
      for (uint32_t i = 0; i < kN / 2; ++i) {
        const cuda::WgmmaElement at = cuda::WgmmaElementRule(thread, i);
        product[at.row][at.column] = d[i];
      }
    };
    Launch(kernel, {}, {128}, (64 + kN) * 128, options);
  }

  void Randomize() {
    Random random;
    for (uint32_t& word : a) word = random.Word();
    for (uint32_t& word : b) word = random.Word();
  }

  int Wrong() const {
    int wrong = 0;
    for (size_t m = 0; m < 64; ++m) {
      for (size_t n = 0; n < kN; ++n) {
        int ones = 0;
        for (size_t i = 0; i < 32; ++i) ones += std::popcount(a[32 * m + i] & b[32 * n + i]);
        wrong += product[m][n] != ones;
      }
    }
    return wrong;
  }
};

TEST(EmulatedGpu, WarpgroupMultipliesMatrices) {
  SCOPED_TRACE(testing::ReplayHint());
  for (const Options::Order order : kOrders) {
    for (const bool early : {false, true}) {
      const Options options{.order = order, .seed = 3, .early_copies = early};
      WarpgroupProduct<64> narrow;
      narrow.Randomize();
      narrow.Run(options);
      ASSERT_EQ(narrow.Wrong(), 0);
      WarpgroupProduct<128> wide;
      wide.Randomize();
      wide.Run(options);
      ASSERT_EQ(wide.Wrong(), 0);
    }
  }
}

// The parts of a row are swizzled; adding 32 bytes to the descriptor advances along the rows all
// the same.
TEST(EmulatedGpu, MatricesLieAsDocumented) {
  const uint64_t rows = cuda::RowsDescriptor(4096);
  EXPECT_EQ(rows, uint64_t{1} << 62 | uint64_t{1024 / 16} << 32 | 1 << 16 | 4096 / 16);
  EXPECT_EQ(cuda::MatrixByte(rows, 0, 21), 4096u + 1 * 16 + 5);
  EXPECT_EQ(cuda::MatrixByte(rows, 9, 21), 4096u + 1024 + 128 + (1 ^ 1) * 16 + 5);
  EXPECT_EQ(cuda::MatrixByte(cuda::RowsDescriptor(4096 + 32), 7, 0), 4096u + 896 + (2 ^ 7) * 16);
}

TEST(EmulatedGpu, ProductsSeeNoCopiesWithoutAFence) {
  using Product = WarpgroupProduct<64>;
  Product product;
  product.Randomize();
  product.Run({}, Product::kNoFenceOfCopies);
  EXPECT_GT(product.Wrong(), 0);
}

TEST(EmulatedGpuDeathTest, ProductsThatBreakARule) {
  using Product = WarpgroupProduct<64>;
  static Product product;
  for (const bool early : {false, true}) {
    const Options options{.early_copies = early};
    EXPECT_DEATH(product.Run(options, Product::kNoFence), "no fence since the last wait");
    EXPECT_DEATH(product.Run(options, Product::kNoWait), "products were not waited for");
    EXPECT_DEATH(product.Run(options, Product::kNoCommit), "products are in no group");
    EXPECT_DEATH(product.Run(options, Product::kOtherMatrix), "different matrices");
  }
}

// A matrix of 5 rows of 40 words, of which boxes of 8 rows and 32 words are copied.
struct BoxCopies {
  enum Fault { kNone, kNoWait, kFewerBytes, kNoFence, kOddAddress, kNoMap };

  alignas(16) std::array<uint32_t, size_t{5} * 44> words;
  cuda::MatrixMap matrix{.words = words.data(),
                         .rows = 5,
                         .row_words = 40,
                         .pitch_words = 44,
                         .box_rows = 8,
                         .box_words = 32,
                         .is_swizzled = true};
  std::array<uint32_t, size_t{8}* 32> box = {};

  BoxCopies() { std::iota(words.begin(), words.end(), 1u); }

  void Run(const Options& options, int x, int y, Fault fault = kNone) {
    const auto map = std::make_unique<cuda::TensorMap>();
    if (fault != kNoMap) MakeTensorMap(matrix, *map);
    constexpr uint32_t kBarrier = 3 * 1024;
    const auto kernel = [&] {
      if (threadIdx.x == 0) {
        cuda::MakeBarrier(kBarrier, 1);
        if (fault != kNoFence) cuda::FenceForProducts();
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        cuda::ArriveAndExpect(kBarrier, fault == kFewerBytes ? 1008 : 1024);
        cuda::CopyBox(fault == kOddAddress ? 64 : 2048, *map, x, y, kBarrier);
      }
      if (fault != kNoWait) cuda::WaitForPhase(kBarrier, 0);
      if (threadIdx.x == 63) std::memcpy(box.data(), SharedMemory() + 2048, sizeof(box));
    };
    Launch(kernel, {}, {64}, 3 * 1024 + 8, options);
  }

  // Returns word i of row r of the box, with the swizzle undone.
  uint32_t At(uint32_t r, uint32_t i) const { return box[r * 32 + ((i / 4) ^ r) * 4 + i % 4]; }
};

TEST(EmulatedGpu, BoxesAreCopiedAndPaddedWithZeros) {
  for (const Options::Order order : kOrders) {
    for (const bool early : {false, true}) {
      for (const auto& [x, y] : {std::pair{0, 0}, {32, 0}, {-3, -2}, {8, 3}, {64, 64}}) {
        BoxCopies copies;
        copies.Run({.order = order, .seed = 4, .early_copies = early}, x, y);
        for (int r = 0; r < 8; ++r) {
          for (int i = 0; i < 32; ++i) {
            const bool inside = y + r >= 0 && y + r < 5 && x + i >= 0 && x + i < 40;
            ASSERT_EQ(copies.At(static_cast<uint32_t>(r), static_cast<uint32_t>(i)),
                      inside ? static_cast<uint32_t>((y + r) * 44 + x + i + 1) : 0u)
                << x << " " << y << " " << r << " " << i;
          }
        }
      }
    }
  }
}

TEST(EmulatedGpu, BoxesThatAreNotSwizzledLieAsTheyAre) {
  BoxCopies copies;
  copies.matrix.is_swizzled = false;
  copies.Run({}, 4, 1);
  EXPECT_EQ(copies.box[0], 44u + 4 + 1);
  EXPECT_EQ(copies.box[32 + 5], 2u * 44 + 4 + 5 + 1);
}

// One warp writes and another reads, turn by turn.
TEST(EmulatedGpu, PhasesTakeTurns) {
  constexpr uint32_t kFull = 0;
  constexpr uint32_t kEmpty = 8;
  constexpr int kRounds = 5;
  for (const Options::Order order : kOrders) {
    std::vector<int> seen;
    const auto kernel = [&] {
      const unsigned me = threadIdx.x;
      int* const value = reinterpret_cast<int*>(SharedMemory() + 16);
      if (me == 0) {
        cuda::MakeBarrier(kFull, 32);
        cuda::MakeBarrier(kEmpty, 1);
      }
      __syncthreads();
      for (int round = 0; round < kRounds; ++round) {
        const uint32_t parity = static_cast<uint32_t>(round) % 2;
        if (me < 32) {
          cuda::WaitForPhase(kEmpty, parity ^ 1);
          value[me] = round * 100 + static_cast<int>(me);
          cuda::Arrive(kFull);
        } else if (me == 32) {
          cuda::WaitForPhase(kFull, parity);
          for (int i = 0; i < 32; ++i) seen.push_back(value[i]);
          cuda::Arrive(kEmpty);
        }
      }
    };
    Launch(kernel, {}, {64}, 16 + 32 * sizeof(int), {.order = order, .seed = 5});
    ASSERT_EQ(seen.size(), size_t{kRounds} * 32);
    for (int i = 0; i < kRounds * 32; ++i) {
      ASSERT_EQ(seen[static_cast<size_t>(i)], i / 32 * 100 + i % 32);
    }
  }
}

TEST(EmulatedGpuDeathTest, BoxesThatBreakARule) {
  static BoxCopies copies;
  EXPECT_DEATH(copies.Run({}, 0, 0, BoxCopies::kNoWait), "copies of boxes were not waited for");
  for (const bool early : {false, true}) {
    const Options options{.early_copies = early};
    EXPECT_DEATH(copies.Run(options, 0, 0, BoxCopies::kFewerBytes), "more bytes arrive");
    EXPECT_DEATH(copies.Run(options, 0, 0, BoxCopies::kNoFence), "a barrier that has no fence");
    EXPECT_DEATH(copies.Run(options, 0, 0, BoxCopies::kOddAddress), "64 is not a multiple of 128");
    EXPECT_DEATH(copies.Run(options, 0, 0, BoxCopies::kNoMap), "not made by the driver");
  }
}

void RunOne(const std::function<void()>& kernel, unsigned threads = 64, size_t shared_bytes = 64) {
  Launch(kernel, {}, {threads}, shared_bytes, {});
}

TEST(EmulatedGpuDeathTest, BarrierThatSomeDoNotReach) {
  EXPECT_DEATH(RunOne([] {
                 if (threadIdx.x < 40) __syncthreads();
               }),
               "waits at a barrier that others never reach");
}

TEST(EmulatedGpuDeathTest, CollectiveOfHalfAWarp) {
  EXPECT_DEATH(RunOne([] {
                 if (threadIdx.x % 2 == 0) __ballot_sync(~0u, true);
               }),
               "waits at a barrier that others never reach");
  EXPECT_DEATH(RunOne([] { __ballot_sync(0xffff, true); }), "a ballot needs a whole warp");
  EXPECT_DEATH(RunOne([] { __ballot_sync(~0u, true); }, 40), "needs a whole warp");
}

TEST(EmulatedGpuDeathTest, LanesThatDoDifferentThings) {
  EXPECT_DEATH(RunOne([] {
                 if (threadIdx.x % 2 == 0) {
                   __ballot_sync(~0u, true);
                 } else {
                   __shfl_xor_sync(~0u, 1, 1);
                 }
               }),
               // The operands differ in size, so that they overwrite each other.
               "different operations|ThreadSanitizer: data race");
}

TEST(EmulatedGpuDeathTest, CopiesThatNobodyWaitsFor) {
  alignas(16) static const uint32_t from[4] = {};
  EXPECT_DEATH(RunOne([] {
                 cuda::CopyAsync<16>(0, from, 16);
                 cuda::CommitCopies();
               }),
               "not waited for");
  EXPECT_DEATH(RunOne([] { cuda::CopyAsync<16>(0, from, 16); }), "in no group");
}

TEST(EmulatedGpuDeathTest, AddressesThatAreWrong) {
  alignas(16) static const uint32_t from[8] = {};
  EXPECT_DEATH(RunOne([] { cuda::CopyAsync<16>(64, from, 16); }), "outside the block's 64 bytes");
  EXPECT_DEATH(RunOne([] { cuda::CopyAsync<16>(8, from, 16); }), "8 is not a multiple of 16");
  EXPECT_DEATH(RunOne([] { cuda::CopyAsync<16>(0, from + 1, 16); }), "source is not a multiple");
  EXPECT_DEATH(RunOne([] {
                 uint32_t r[4];
                 cuda::LoadMatrix4(r, 16 * (threadIdx.x % 32));
               }),
               "outside the block's 64 bytes");
}

TEST(EmulatedGpuDeathTest, PhasesThatBreakARule) {
  EXPECT_DEATH(RunOne([] { cuda::Arrive(8); }), "no barrier at shared address 8");
  EXPECT_DEATH(RunOne([] { cuda::MakeBarrier(4, 1); }), "4 is not a multiple of 8");
  EXPECT_DEATH(RunOne([] { cuda::MakeBarrier(0, 1); }), "made twice");
  EXPECT_DEATH(RunOne([] {
                 if (threadIdx.x != 0) return;
                 cuda::MakeBarrier(0, 1);
                 cuda::ArriveAndExpect(0, 16);
                 cuda::Arrive(0);
               }),
               "more arrive at a barrier than its phase is for");
}

TEST(EmulatedGpuDeathTest, WriteBehindSharedMemory) {
  EXPECT_DEATH(RunOne([] { static_cast<volatile unsigned char*>(SharedMemory())[64] = 1; }, 1),
               "written behind its end|AddressSanitizer");
}

#ifndef __SANITIZE_THREAD__

TEST(EmulatedGpuDeathTest, PhaseThatNeverEnds) {
  EXPECT_DEATH(RunOne(
                   [] {
                     cuda::MakeBarrier(0, 1);
                     cuda::WaitForPhase(0, 0);
                   },
                   1),
               "waits at a barrier that others never reach");
}

TEST(EmulatedGpu, MissingBarrierIsAWrongNumber) {
  for (const Options::Order order : kOrders) EXPECT_NE(PassOn(false, order), PassOn(true, order));
}

#endif

}  // namespace
}  // namespace larq_engine::emulated_gpu
