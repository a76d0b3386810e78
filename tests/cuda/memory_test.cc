// Tests copies to a GPU's memory and back, with a driver that does everything late.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "larq_engine/runtime/cuda/cuda_memory.h"
#include "larq_engine/version.h"
#include "tests/cuda/fake_driver/fake_driver.h"

namespace larq_engine {
namespace {

constexpr size_t kPiece = 4 << 20;
constexpr std::array<size_t, 7> kSizes = {0,          1,          5000,           kPiece,
                                          kPiece + 1, 2 * kPiece, 3 * kPiece + 77};

std::vector<std::byte> Numbers(size_t bytes, size_t seed) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 31 + seed) >> (i % 3));
  return data;
}

class CudaMemoryTest : public ::testing::Test {
 protected:
  CudaMemoryTest() { fake_cuda_reset(); }
  ~CudaMemoryTest() override { fake_cuda_set_seed(0); }

  // Returns the data after a copy to the device and back.
  std::vector<std::byte> Copied(const std::vector<std::byte>& data) {
    const DeviceBuffer buffer(memory_, MemoryUse::kActivations, data.size());
    memory_.CopyIn(data.data(), data.size(), buffer.data());
    std::vector<std::byte> back(data.size());
    memory_.CopyOut(buffer.data(), back.size(), back.data());
    return back;
  }

  const CudaDriver driver_ = LoadCudaDriver(testing::FindFakeCudaSymbol);
  const CudaQueue queue_{
      std::make_shared<CudaDevice>(driver_, *larq_engine_cuda_image(LARQ_ENGINE_VERSION), 0)};
  CudaMemory memory_{queue_};
};

TEST_F(CudaMemoryTest, CopiesOfAllSizesThroughLittlePinnedMemory) {
  for (const uint64_t seed : {0, 1, 2}) {
    fake_cuda_set_seed(seed);
    for (const size_t bytes : kSizes) {
      const std::vector<std::byte> data = Numbers(bytes, seed);
      EXPECT_EQ(Copied(data), data) << bytes << " bytes";
    }
  }
  EXPECT_LE(memory_.StagingBytes(), 2 * kPiece + 2 * 8192);
  EXPECT_EQ(fake_cuda_pageable_copies(), 0u);
}

TEST_F(CudaMemoryTest, APieceIsFilledWhileTheOneBeforeItIsMoved) {
  const std::vector<std::byte> data = Numbers(3 * kPiece, 0);
  const DeviceBuffer buffer(memory_, MemoryUse::kActivations, data.size());
  memory_.ReserveStaging(data.size());
  EXPECT_EQ(memory_.StagingBytes(), 2 * kPiece);
  fake_cuda_hold_wait(0);
  memory_.CopyIn(data.data(), data.size(), buffer.data());
  EXPECT_EQ(fake_cuda_most_uploads(), 2u);
  EXPECT_EQ(memory_.StagingBytes(), 2 * kPiece);
  memory_.Wait();
}

TEST_F(CudaMemoryTest, PinnedDataAreReadWhereTheyAre) {
  const std::vector<std::byte> data = Numbers(3 * kPiece + 77, 4);
  const DeviceBuffer buffer(memory_, MemoryUse::kActivations, data.size());
  const auto is_copied = [&](const std::byte* from, size_t bytes) {
    memory_.CopyGiven(from, bytes, buffer.data());
    std::vector<std::byte> back(bytes);
    const size_t staging = memory_.StagingBytes();
    memory_.CopyOut(buffer.data(), bytes, back.data());
    EXPECT_TRUE(std::equal(back.begin(), back.end(), from)) << bytes;
    return staging;
  };
  auto* bytes = static_cast<std::byte*>(fake_cuda_make_pinned(data.size()));
  std::copy(data.begin(), data.end(), bytes);
  EXPECT_EQ(is_copied(bytes, data.size()), 0u);
  const size_t of_reading = memory_.StagingBytes();
  EXPECT_EQ(is_copied(bytes + 5, 5000), of_reading);
  memory_.CopyGiven(bytes, 0, buffer.data());
  fake_cuda_free_pinned(bytes);
  // Unpinned data go through staging, because the driver would make the host wait for each copy of
  // them.
  EXPECT_GT(is_copied(data.data(), data.size()), 0u);
  EXPECT_EQ(fake_cuda_pageable_copies(), 0u);
}

int ListedThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// Returns the number of threads of the process. The system lists a thread for a moment after it was
// joined, so the number is read until it no longer changes.
int Threads() {
  for (int threads = ListedThreads();;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int now = ListedThreads();
    if (now == threads) return now;
    threads = now;
  }
}

TEST_F(CudaMemoryTest, SeveralThreadsCopyWhatIsLarge) {
  const std::vector<std::byte> data = Numbers(3 * kPiece + 77, 5);
  std::vector<std::byte> back(data.size());
  CudaMemory memory(queue_, 3);
  const DeviceBuffer buffer(memory, MemoryUse::kActivations, data.size());
  std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first
  const int alone = Threads();
  memory.CopyIn(data.data(), 5000, buffer.data());
  memory.CopyOut(buffer.data(), 5000, back.data());
  EXPECT_EQ(Threads(), alone);
  memory.ReserveStaging(data.size());
  EXPECT_EQ(Threads(), alone + 2);
  for (const size_t bytes : {size_t{5000}, (size_t{512} << 10) - 1, size_t{512} << 10,
                             (size_t{640} << 10) + 1, kPiece + 5, data.size()}) {
    std::ranges::fill(back, std::byte{0});
    memory.CopyIn(data.data(), bytes, buffer.data());
    memory.CopyOut(buffer.data(), bytes, back.data());
    EXPECT_TRUE(
        std::equal(back.begin(), back.begin() + static_cast<ptrdiff_t>(bytes), data.begin()))
        << bytes;
  }
  EXPECT_EQ(Threads(), alone + 2);
}

// The rates are those of expected_seconds.cc; the rate of the link limits them.
TEST_F(CudaMemoryTest, SeveralThreadsAreExpectedToCopyFaster) {
  const auto rate = [&](int threads, size_t bytes) {
    const CudaMemory memory(queue_, threads);
    return static_cast<double>(bytes) / (memory.Seconds(bytes) - memory.Seconds(0));
  };
  constexpr size_t kImages = 32 * kPiece;
  EXPECT_NEAR(rate(3, kImages) / rate(1, kImages), 3, 1e-6);
  EXPECT_NEAR(rate(3, 300 << 10) / rate(1, 300 << 10), 1, 1e-6);
  EXPECT_GT(rate(20, kImages), rate(6, kImages));
  EXPECT_NEAR(rate(20, kImages), 55e9, 1e3);
}

TEST_F(CudaMemoryTest, SeveralCopiesAtOnceShareTheThreads) {
  CudaMemory memory(queue_, 3);
  std::vector<std::thread> threads;
  for (size_t seed = 0; seed < 2; ++seed) {
    threads.emplace_back([&memory, seed] {
      const std::vector<std::byte> data = Numbers(kPiece + 77, seed);
      std::vector<std::byte> back(data.size());
      const DeviceBuffer buffer(memory, MemoryUse::kActivations, data.size());
      memory.CopyIn(data.data(), data.size(), buffer.data());
      memory.CopyOut(buffer.data(), back.size(), back.data());
      EXPECT_EQ(back, data) << seed;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaMemoryTest, OneThreadCopiesInWhileAnotherWaits) {
  const std::vector<std::byte> data = Numbers(5000, 1);
  std::vector<std::byte> back(data.size());
  const DeviceBuffer buffer(memory_, MemoryUse::kActivations, data.size());
  memory_.CopyIn(data.data(), data.size(), buffer.data());
  memory_.Wait();
  fake_cuda_hold_wait(1);
  std::thread other([&] { memory_.CopyOut(buffer.data(), back.size(), back.data()); });
  while (fake_cuda_is_held() == 0) std::this_thread::yield();
  EXPECT_EQ(Copied(data), data);
  other.join();
  EXPECT_EQ(back, data);
}

// The event that tells when the first copy is done was not recorded. The second copy must not use
// the same pinned memory while the first one runs.
TEST_F(CudaMemoryTest, ACopyWhoseEventFailsKeepsItsPinnedMemoryUntilItIsDone) {
  const std::vector<std::byte> first = Numbers(5000, 1);
  const std::vector<std::byte> second = Numbers(5000, 2);
  memory_.ReserveStaging(first.size());
  for (const size_t pieces : {1, 2}) {
    const DeviceBuffer ours(memory_, MemoryUse::kActivations, first.size());
    const DeviceBuffer other(memory_, MemoryUse::kActivations, second.size());
    std::string failed;
    for (uint64_t call = 1; failed != "cuEventRecord"; ++call) {
      ASSERT_LT(call, 50u);
      fake_cuda_reset();
      fake_cuda_fail_call(call, CUDA_ERROR_UNKNOWN);
      try {
        memory_.CopyIn(first.data(), first.size(), ours.data());
      } catch (const OpError&) {
        failed = fake_cuda_failed_call();
      }
    }
    fake_cuda_reset();
    for (size_t i = 0; i < pieces; ++i) memory_.CopyIn(second.data(), second.size(), other.data());
    std::vector<std::byte> back(first.size());
    memory_.CopyOut(ours.data(), back.size(), back.data());
    EXPECT_EQ(back, first);
  }
}

TEST_F(CudaMemoryTest, BuffersAreCounted) {
  {
    const DeviceBuffer weights(memory_, MemoryUse::kWeights, 100);
    const DeviceBuffer activations(memory_, MemoryUse::kActivations, 2000);
    EXPECT_EQ(memory_.Held(MemoryUse::kWeights), 100u);
    EXPECT_EQ(memory_.Held(MemoryUse::kActivations), 2000u);
  }
  EXPECT_EQ(memory_.Held(MemoryUse::kWeights) + memory_.Held(MemoryUse::kActivations), 0u);
}

TEST_F(CudaMemoryTest, DataOfOthers) {
  const std::vector<std::byte> data = Numbers(5000, 3);
  void* array = fake_cuda_make_array(data.data(), data.size(), 0);
  const auto* made = static_cast<const std::byte*>(array);
  const DeviceBuffer buffer(memory_, MemoryUse::kActivations, data.size());
  memory_.AwaitMade(made, data.size());
  memory_.CopyMade(made, data.size(), buffer.data());
  std::vector<std::byte> back(data.size());
  memory_.CopyOut(buffer.data(), back.size(), back.data());
  EXPECT_EQ(back, data);
  fake_cuda_free_array(array);

  const auto refusal = [&](const std::byte* elsewhere, size_t bytes = 1) -> std::string {
    try {
      memory_.AwaitMade(elsewhere, bytes);
    } catch (const OpError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(data.data()),
            "expected data in the memory of GPU 0, got an address that is in none");
  array = fake_cuda_make_array(data.data(), data.size(), 1);
  EXPECT_EQ(refusal(static_cast<std::byte*>(array)),
            "expected data in the memory of GPU 0, got that of GPU 1; copy it there, or set the "
            "option device to cuda:1");
  fake_cuda_free_array(array);
  array = fake_cuda_make_array(data.data(), data.size(), 0);
  EXPECT_EQ(refusal(static_cast<std::byte*>(array), data.size()), "");
  EXPECT_EQ(refusal(static_cast<std::byte*>(array), data.size() + 1),
            "expected data in the memory of GPU 0, got an array that ends before the 5001 bytes "
            "do, in an address that is in none");
  fake_cuda_free_array(array);
}

}  // namespace
}  // namespace larq_engine
