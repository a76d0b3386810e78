// Tests that equal packed weights are in memory once for all who use them.
#include "larq_engine/kernels/common/shared_buffer.h"

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/binary/pack_rhs.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/bytes/pack_bytes.h"
#include "larq_engine/kernels/bytes/table.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::Random;

AlignedBuffer<uint32_t> Written(size_t size, uint32_t first) {
  AlignedBuffer<uint32_t> buffer(size);
  for (size_t i = 0; i < size; ++i) buffer.data()[i] = first + static_cast<uint32_t>(i);
  return buffer;
}

TEST(SharedBuffer, EqualBytesAreKeptOnce) {
  const SharedBuffer<uint32_t> one(Written(5000, 1)), same(Written(5000, 1));
  EXPECT_EQ(one.data(), same.data());
  const SharedBuffer<uint32_t> other(Written(5000, 2)), shorter(Written(4999, 1));
  EXPECT_NE(one.data(), other.data());
  EXPECT_NE(one.data(), shorter.data());
  for (uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(one.data()[i], 1 + i);
    ASSERT_EQ(other.data()[i], 2 + i);
  }
}

TEST(SharedBuffer, BytesThatKeysLeaveOutAreCompared) {
  const SharedBuffer<uint32_t> one(Written(5000, 0));
  for (size_t changed = 0; changed < 5000; ++changed) {
    AlignedBuffer<uint32_t> almost = Written(5000, 0);
    almost.data()[changed] ^= 1u << 17;
    EXPECT_NE(SharedBuffer(std::move(almost)).data(), one.data());
  }
}

TEST(SharedBuffer, ManyWithOneKeyAreAllKept) {
  std::vector<SharedBuffer<uint32_t>> all;
  for (uint32_t number = 0; number < 100; ++number) {
    AlignedBuffer<uint32_t> almost = Written(5000, 0);
    almost.data()[4999] ^= number << 8;
    all.emplace_back(std::move(almost));
  }
  for (uint32_t number = 0; number < 100; ++number) {
    EXPECT_EQ(all[number].data()[4999], 4999 ^ (number << 8));
  }
}

TEST(SharedBuffer, EightWithOneKeyAreShared) {
  std::vector<SharedBuffer<uint32_t>> all;
  for (uint32_t number = 0; number < 40; ++number) {
    AlignedBuffer<uint32_t> almost = Written(5000, 0);
    almost.data()[4999] ^= number % 20 << 8;
    all.emplace_back(std::move(almost));
  }
  int shared = 0;
  for (size_t number = 0; number < 20; ++number) {
    shared += all[number].data() == all[number + 20].data();
  }
  EXPECT_EQ(shared, 8);
}

TEST(SharedBuffer, TheLastUserFreesThem) {
  for (size_t size : {1, 100, 100000}) {
    AlignedBuffer<uint32_t> before = Written(size, 7);
    const uint32_t* kept = before.data();
    {
      const SharedBuffer<uint32_t> one(std::move(before));
      EXPECT_EQ(one.data(), kept);
      SharedBuffer<uint32_t> same(Written(size, 7));
      EXPECT_EQ(same.data(), kept);
      same = SharedBuffer(Written(size, 8));
      EXPECT_NE(same.data(), kept);
    }
    AlignedBuffer<uint32_t> after = Written(size, 7);
    kept = after.data();  // may be where `before` was
    EXPECT_EQ(SharedBuffer(std::move(after)).data(), kept);
  }
}

// Leaves these bytes in memory that is then free, for the next allocation of the same size.
void Soil(size_t bytes, int value) {
  AlignedBuffer<std::byte> buffer(bytes);
  std::memset(buffer.data(), value, bytes);
}

// Packed filters must be equal whatever was in memory before: both where filters end, which rows
// read as zeros, and between groups, which rows do not read. There are many groups, because the C
// library does not reuse small memory.
TEST(SharedBuffer, FiltersOfEveryRowAreKeptOnce) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  constexpr size_t kGroups = 20, kWords = 5;
  for (const BgemmRow& row : BgemmRows()) {
    for (size_t n = 1; n <= 2 * static_cast<size_t>(row.nr) + 1; n += 7) {
      std::vector<uint32_t> filters(kGroups * n * kWords);
      for (uint32_t& word : filters) word = static_cast<uint32_t>(random.Int(0, UINT32_MAX));
      const size_t bytes =
          kGroups * RoundUp(PackedRhsWords(row, n, kWords) * sizeof(uint32_t), kBufferAlignment);
      Soil(bytes, 0x5a);
      const PackedFilters one(row, filters.data(), kGroups, n, kWords);
      Soil(bytes, 0xa5);
      const PackedFilters same(row, filters.data(), kGroups, n, kWords);
      EXPECT_EQ(one.Columns(0, 0), same.Columns(0, 0)) << row.name << ", " << n << " filters";
      filters.back() ^= 1;
      const PackedFilters other(row, filters.data(), kGroups, n, kWords);
      EXPECT_NE(one.Columns(0, 0), other.Columns(0, 0)) << row.name << ", " << n << " filters";
    }
  }
  for (const ByteRow& row : ByteRows()) {
    for (int64_t n = 1; n <= 2 * row.nr + 1; n += 7) {
      const Bconv2dSpec spec = {.in_channels = 8 * kGroups,
                                .out_channels = int64_t{kGroups} * n,
                                .groups = kGroups,
                                .window = {.height = {.taps = 3}}};
      std::vector<uint32_t> filter(kGroups * static_cast<size_t>(n * 3));
      for (uint32_t& word : filter) word = static_cast<uint32_t>(random.Int(0, UINT32_MAX));
      const size_t bytes =
          kGroups * RoundUp(PackedBytes(row, static_cast<size_t>(n), 24), kBufferAlignment);
      Soil(bytes, 0x5a);
      const ByteFilters one(spec, row, filter.data());
      Soil(bytes, 0xa5);
      const ByteFilters same(spec, row, filter.data());
      EXPECT_EQ(one.Columns(0, 0, 0), same.Columns(0, 0, 0)) << row.name << ", " << n;
    }
  }
}

TEST(SharedBuffer, ThreadsShareToo) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([] {
      for (uint32_t round = 0; round < 500; ++round) {
        const SharedBuffer<uint32_t> one(Written(300, round % 3)), two(Written(300, round % 5));
        EXPECT_EQ(one.data()[299], round % 3 + 299);
        EXPECT_EQ(two.data()[0], round % 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// AddressSanitizer may wait in a forked child: see delegate_test.cc.
#if defined(__unix__) && !defined(__SANITIZE_ADDRESS__)

// A forked process can share bytes, whatever other threads did with theirs when it was forked.
TEST(SharedBuffer, ForkedProcessesNeverWait) {
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    for (uint32_t i = 0; !is_done; ++i) const SharedBuffer<uint32_t> bytes(Written(3, i));
  });
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a signal ends the child if it waits
      { const SharedBuffer<uint32_t> bytes(Written(3, 7)); }
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "fork " << i;
    if (status != 0) break;
  }
  is_done = true;
  other.join();
}

#endif

}  // namespace
}  // namespace larq_engine
