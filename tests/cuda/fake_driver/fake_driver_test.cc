// Tests the fake driver itself: what it does late, in which order, and which errors it finds.
#include "tests/cuda/fake_driver/fake_driver.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "larq_engine/kernels/cuda/emulated_tma.h"
#include "larq_engine/runtime/cuda/driver.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "tests/common/error_of.h"
#include "tests/cuda/emulated_image.h"

namespace larq_engine::testing {
namespace {

const bool kTwoDevices = setenv("FAKE_CUDA_DEVICES", "2", 1) == 0;

// ---- Kernels

struct AddArgs {
  int* values;
  int addend;
};
using Complete = std::function<void()>;
void Add(const void* args, const unsigned grid[3], const unsigned block[3], size_t, uint64_t, bool,
         const Complete&) {
  const auto& a = *static_cast<const AddArgs*>(args);
  for (unsigned i = 0; i < grid[0] * block[0]; ++i) a.values[i] += a.addend;
}

std::string log_of_notes;
void Note(const void* args, const unsigned*, const unsigned*, size_t, uint64_t, bool,
          const Complete& complete_earlier) {
  if (complete_earlier) {
    log_of_notes += "early ";
    complete_earlier();
  }
  log_of_notes += *static_cast<const char*>(args);
}

std::set<uint64_t> orders;
std::set<bool> early_copies;
void NoteOrder(const void*, const unsigned*, const unsigned*, size_t, uint64_t order, bool early,
               const Complete&) {
  orders.insert(order);
  early_copies.insert(early);
}

constexpr EmulatedImageKernel kKernels[] = {
    {"add", sizeof(AddArgs), Add}, {"note", sizeof(char), Note}, {"note_order", 1, NoteOrder}};

EmulatedImage Image(const char* magic) {
  EmulatedImage image = {{}, std::size(kKernels), kKernels};
  std::memcpy(image.magic, magic, sizeof(image.magic));
  return image;
}

// ---- A device in use

class FakeDriverTest : public ::testing::Test {
 protected:
  FakeDriverTest() : driver_(LoadCudaDriver(FindFakeCudaSymbol)) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a forked process would have no device
    fake_cuda_reset();
    fake_cuda_set_seed(0);
    driver_.Call(driver_.cuDevicePrimaryCtxRetain, &context_, 0);
    driver_.Call(driver_.cuCtxPushCurrent, context_);
    const EmulatedImage image = Image(kEmulatedImageMagic);
    driver_.Call(driver_.cuLibraryLoadData, &library_, &image, nullptr, nullptr, 0, nullptr,
                 nullptr, 0);
    stream_ = MakeStream();
    log_of_notes.clear();
  }

  ~FakeDriverTest() override {
    fake_cuda_reset();
    for (CUdeviceptr memory : memory_) driver_.Call(driver_.cuMemFree, memory);
    for (void* memory : pinned_) driver_.Call(driver_.cuMemFreeHost, memory);
    for (CUevent event : events_) driver_.Call(driver_.cuEventDestroy, event);
    for (CUstream stream : streams_) driver_.Call(driver_.cuStreamDestroy, stream);
    driver_.Call(driver_.cuLibraryUnload, library_);
    driver_.Call(driver_.cuCtxPopCurrent, nullptr);
    driver_.Call(driver_.cuDevicePrimaryCtxRelease, 0);
    EXPECT_EQ(fake_cuda_leaks(), 0u);
  }

  CUstream MakeStream() {
    CUstream stream = nullptr;
    driver_.Call(driver_.cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    streams_.push_back(stream);
    return stream;
  }
  CUevent MakeEvent(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    driver_.Call(driver_.cuEventCreate, &event, flags);
    events_.push_back(event);
    return event;
  }
  CUdeviceptr Device(size_t bytes) {
    CUdeviceptr memory = 0;
    driver_.Call(driver_.cuMemAlloc, &memory, bytes);
    memory_.push_back(memory);
    return memory;
  }
  template <typename T>
  T* Pinned(size_t count) {
    void* memory = nullptr;
    driver_.Call(driver_.cuMemHostAlloc, &memory, count * sizeof(T), 0);
    pinned_.push_back(memory);
    return static_cast<T*>(memory);
  }
  CUfunction Function(const char* name) {
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    driver_.Call(driver_.cuLibraryGetKernel, &kernel, library_, name);
    driver_.Call(driver_.cuKernelGetFunction, &function, kernel);
    return function;
  }
  CUresult Launch(const char* name, void* args, CUstream stream, std::array<unsigned, 3> grid,
                  std::array<unsigned, 3> block, unsigned shared_bytes = 0) {
    void* parameters[] = {args};
    return driver_.cuLaunchKernel(Function(name), grid[0], grid[1], grid[2], block[0], block[1],
                                  block[2], shared_bytes, stream, parameters, nullptr);
  }
  void LaunchNote(char note, CUstream stream) {
    ASSERT_EQ(Launch("note", &note, stream, {1, 1, 1}, {1, 1, 1}), CUDA_SUCCESS);
  }
  void LaunchNoteEarly(char note, CUstream stream) {
    CUlaunchAttribute early{};
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, &early, 1};
    void* parameters[] = {&note};
    driver_.Call(driver_.cuLaunchKernelEx, &config, Function("note"), parameters, nullptr);
  }
  CUresult Synchronize(CUstream stream) { return driver_.cuStreamSynchronize(stream); }

  const CudaDriver driver_;
  CUcontext context_ = nullptr;
  CUlibrary library_ = nullptr;
  CUstream stream_ = nullptr;
  std::vector<CUdeviceptr> memory_;
  std::vector<void*> pinned_;
  std::vector<CUstream> streams_;
  std::vector<CUevent> events_;
};
using FakeDriverDeathTest = FakeDriverTest;

std::byte* Bytes(CUdeviceptr memory) { return reinterpret_cast<std::byte*>(memory); }

// ---- Memory

TEST_F(FakeDriverTest, MemoryIsFilledSoThatNobodyTakesItForZeros) {
  for (const size_t bytes : {1, 255, 4096, 10000}) {
    const CUdeviceptr memory = Device(bytes);
    EXPECT_EQ(memory % 256, 0u);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(Bytes(memory)[i], std::byte{0xA5});
  }
}

TEST_F(FakeDriverTest, MoreMemoryThanThereIs) {
  const size_t all = size_t{1} << 30;
  CUdeviceptr memory = 0;
  EXPECT_EQ(driver_.cuMemAlloc(&memory, all + 1), CUDA_ERROR_OUT_OF_MEMORY);
  Device(1 << 20);
  EXPECT_EQ(driver_.cuMemAlloc(&memory, all), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver_.cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeDriverDeathTest, MemoryIsGuarded) {
  std::byte* memory = Bytes(Device(8192));
  EXPECT_DEATH(memory[8192] = std::byte{0}, "");
  EXPECT_DEATH(memory[-1] = std::byte{0}, "");
  const CUdeviceptr odd = Device(100);
  EXPECT_DEATH(
      {
        Bytes(odd)[100] = std::byte{0};
        (void)driver_.cuMemFree(odd);
      },
      "written behind its 100 bytes|use-after-poison");
}

TEST_F(FakeDriverDeathTest, FreedMemoryIsOutOfReach) {
  CUdeviceptr memory = 0;
  driver_.Call(driver_.cuMemAlloc, &memory, 100);
  driver_.Call(driver_.cuMemFree, memory);
  EXPECT_DEATH(Bytes(memory)[0] = std::byte{0}, "");
  EXPECT_DEATH((void)driver_.cuMemFree(memory), "device memory at .* is freed that is none");
  EXPECT_DEATH((void)driver_.cuMemcpyDtoDAsync(memory, memory, 1, stream_), "is no device memory");
}

TEST_F(FakeDriverDeathTest, MemoryOfAnotherKind) {
  const CUdeviceptr device = Device(100);
  int* pinned = Pinned<int>(25);
  int own = 0;
  EXPECT_DEATH((void)driver_.cuMemFreeHost(Bytes(device)), "pinned memory at .* that is none");
  EXPECT_DEATH((void)driver_.cuMemFree(reinterpret_cast<CUdeviceptr>(pinned)), "that is none");
  EXPECT_DEATH((void)driver_.cuMemFree(reinterpret_cast<CUdeviceptr>(&own)), "that is none");
  EXPECT_DEATH((void)driver_.cuMemcpyDtoHAsync(Bytes(device), device, 4, stream_),
               "which the host does not see");
  EXPECT_DEATH(
      (void)driver_.cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(pinned), &own, 4, stream_),
      "is no device memory");
  EXPECT_DEATH((void)driver_.cuMemcpyHtoDAsync(device, pinned, 101, stream_), "end behind");
  EXPECT_DEATH((void)driver_.cuMemcpyHtoDAsync(device + 97, pinned, 4, stream_), "end behind");
  EXPECT_DEATH((void)driver_.cuMemcpyDtoDAsync(device, device + 10, 11, stream_), "overlaps");
}

TEST_F(FakeDriverTest, AddressesTellWhereTheyAre) {
  const CUdeviceptr device = Device(100) + 99;
  const auto pinned = reinterpret_cast<CUdeviceptr>(Pinned<int>(1));
  CUmemorytype type = {};
  int ordinal = -1;
  driver_.Call(driver_.cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  driver_.Call(driver_.cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pinned);
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  driver_.Call(driver_.cuPointerGetAttribute, &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
               device);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(driver_.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                          reinterpret_cast<CUdeviceptr>(&type)),
            CUDA_ERROR_INVALID_VALUE);
}

// The official documentation gives the rules of a legal matrix; the emulated GPU reads the matrix
// from the map.
TEST_F(FakeDriverTest, TensorMapsAreOfLegalMatrices) {
  const CUdeviceptr memory = Device(4096);
  const auto map = std::make_unique<CUtensorMap>();  // on the heap, which keeps its alignment
  const auto make = [&](CUdeviceptr at, uint64_t words, uint64_t pitch_bytes, uint32_t box_words) {
    const uint64_t sizes[] = {words, 4};
    const uint32_t box[] = {box_words, 256};
    const uint32_t each[] = {1, 1};
    return driver_.cuTensorMapEncodeTiled(
        map.get(), CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, Bytes(at), sizes, &pitch_bytes, box, each,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_EQ(make(memory, 34, 144, 32), CUDA_SUCCESS);
  const auto own = std::make_unique<cuda::TensorMap>();
  std::memcpy(own->opaque, map->opaque, sizeof(own->opaque));
  const cuda::MatrixMap read = emulated_gpu::ReadTensorMap(*own);
  EXPECT_EQ(read.words, reinterpret_cast<const uint32_t*>(memory));
  EXPECT_EQ(read.rows, 4);
  EXPECT_EQ(read.row_words, 34);
  EXPECT_EQ(read.pitch_words, 36);
  EXPECT_EQ(read.box_rows, 256);
  EXPECT_EQ(read.box_words, 32);
  EXPECT_TRUE(read.is_swizzled);
  EXPECT_EQ(make(0, 34, 144, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(memory + 8, 34, 144, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(memory, 0, 144, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(memory, 34, 136, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(memory, 34, 128, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(memory, 34, 144, 36), CUDA_ERROR_INVALID_VALUE);
}

// ---- Work

TEST_F(FakeDriverTest, WorkRunsLate) {
  const CUdeviceptr device = Device(8);
  int* host = Pinned<int>(4);
  host[0] = 1, host[1] = 2, host[2] = host[3] = 0;
  AddArgs args = {reinterpret_cast<int*>(device), 10};
  driver_.Call(driver_.cuMemcpyHtoDAsync, device, host, 8, stream_);
  EXPECT_EQ(Launch("add", &args, stream_, {2, 1, 1}, {1, 1, 1}), CUDA_SUCCESS);
  args = {nullptr, 0};  // the launch has copied it
  driver_.Call(driver_.cuMemcpyDtoHAsync, host + 2, device, 8, stream_);
  EXPECT_EQ(host[2], 0) << "before anybody waits";
  host[0] = 100;  // too early: the copy is not done
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(host[2], 110);
  EXPECT_EQ(host[3], 12);
  EXPECT_EQ(fake_cuda_pageable_copies(), 0u);
}

TEST_F(FakeDriverTest, PageableCopiesAreCounted) {
  const CUdeviceptr device = Device(8);
  int host[2] = {1, 2};
  driver_.Call(driver_.cuMemcpyHtoDAsync, device, host, 8, stream_);
  driver_.Call(driver_.cuMemcpyDtoHAsync, host, device, 8, stream_);
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(fake_cuda_pageable_copies(), 2u);
}

TEST_F(FakeDriverTest, OthersDoNotRunUnlessTheSeedSaysSo) {
  LaunchNote('a', MakeStream());
  LaunchNote('b', stream_);
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(log_of_notes, "b");
}

TEST_F(FakeDriverTest, EachStreamKeepsItsOrderAndTheSeedMixesThem) {
  const CUstream other = MakeStream();
  std::set<std::string> logs;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    fake_cuda_set_seed(seed);
    log_of_notes.clear();
    for (int i = 0; i < 4; ++i) {
      LaunchNote(static_cast<char>('a' + i), stream_);
      LaunchNote(static_cast<char>('A' + i), other);
    }
    EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(Synchronize(other), CUDA_SUCCESS);
    logs.insert(log_of_notes);
    std::string small, large;
    for (char note : log_of_notes) (note >= 'a' ? small : large) += note;
    EXPECT_EQ(small, "abcd");
    EXPECT_EQ(large, "ABCD");
  }
  EXPECT_GT(logs.size(), 10u);
}

TEST_F(FakeDriverTest, SeedDrawsOrdersOfThreads) {
  char nothing = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    fake_cuda_set_seed(seed);
    EXPECT_EQ(Launch("note_order", &nothing, stream_, {1, 1, 1}, {1, 1, 1}), CUDA_SUCCESS);
    EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  }
  EXPECT_EQ(orders.size(), 10u);
  EXPECT_EQ(orders.count(0), 1u);
  EXPECT_EQ(early_copies.size(), 2u);
}

TEST_F(FakeDriverTest, ArraysOfOthersAreThereWhenTheSharedStreamIsDone) {
  const int value = 7;
  void* array = fake_cuda_make_array(&value, sizeof(value), 0);
  int* copy = Pinned<int>(1);
  const auto read = [&] {
    driver_.Call(driver_.cuMemcpyDtoHAsync, copy, reinterpret_cast<CUdeviceptr>(array),
                 sizeof(value), stream_);
    EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
    return *copy;
  };
  EXPECT_NE(read(), value);
  EXPECT_EQ(Synchronize(CU_STREAM_LEGACY), CUDA_SUCCESS);
  EXPECT_EQ(read(), value);
  fake_cuda_free_array(array);
  EXPECT_EQ(fake_cuda_make_array(&value, sizeof(value), 99), nullptr);
}

TEST_F(FakeDriverTest, AWaitLastsUntilOthersHaveQueuedTheirs) {
  const CUstream other = MakeStream();
  const CUdeviceptr memory = Device(8);
  int* pinned = Pinned<int>(2);
  fake_cuda_hold_wait(2);
  driver_.Call(driver_.cuMemcpyHtoDAsync, memory, pinned, 4, stream_);
  EXPECT_EQ(fake_cuda_most_uploads(), 1u);
  std::thread waiting([&] { EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS); });
  driver_.Call(driver_.cuMemcpyHtoDAsync, memory + 4, pinned + 1, 4, other);
  waiting.join();
  EXPECT_EQ(fake_cuda_most_uploads(), 2u);
  EXPECT_EQ(Synchronize(other), CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, EventsTellTheTime) {
  const CUevent begin = MakeEvent();
  const CUevent end = MakeEvent();
  float ms = -1;
  EXPECT_EQ(driver_.cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver_.cuEventQuery(begin), CUDA_SUCCESS) << "was never recorded";
  driver_.Call(driver_.cuEventRecord, begin, stream_);
  LaunchNote('a', stream_);
  driver_.Call(driver_.cuEventRecord, end, stream_);
  EXPECT_EQ(driver_.cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_NOT_READY);
  int asked = 0;
  while (driver_.cuEventQuery(end) == CUDA_ERROR_NOT_READY) ++asked;
  EXPECT_EQ(asked, 3);
  driver_.Call(driver_.cuEventElapsedTime, &ms, begin, end);
  // An idle device continues as soon as something is queued, so the time includes the host's calls.
  EXPECT_GT(ms, 0.005f);
  const CUevent untimed = MakeEvent(CU_EVENT_DISABLE_TIMING);
  driver_.Call(driver_.cuEventRecord, untimed, stream_);
  driver_.Call(driver_.cuEventSynchronize, untimed);
  EXPECT_EQ(driver_.cuEventElapsedTime(&ms, begin, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(FakeDriverTest, EventIsReachedWithoutWhatComesAfterIt) {
  const CUevent event = MakeEvent();
  LaunchNote('a', stream_);
  driver_.Call(driver_.cuEventRecord, event, stream_);
  LaunchNote('b', stream_);
  driver_.Call(driver_.cuEventSynchronize, event);
  EXPECT_EQ(log_of_notes, "a");
}

TEST_F(FakeDriverTest, FreeingWaitsForAll) {
  CUdeviceptr memory = 0;
  driver_.Call(driver_.cuMemAlloc, &memory, 4);
  LaunchNote('a', stream_);
  driver_.Call(driver_.cuMemFree, memory);
  EXPECT_EQ(log_of_notes, "a");
}

TEST_F(FakeDriverTest, WorkOfADestroyedStreamRunsNonetheless) {
  CUstream stream = nullptr;
  driver_.Call(driver_.cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  const CUevent event = MakeEvent();
  LaunchNote('a', stream);
  driver_.Call(driver_.cuEventRecord, event, stream);
  driver_.Call(driver_.cuStreamDestroy, stream);
  driver_.Call(driver_.cuEventSynchronize, event);
  EXPECT_EQ(log_of_notes, "a");
}

TEST_F(FakeDriverDeathTest, WhatNobodyMayDo) {
  CUstream stream = nullptr;
  driver_.Call(driver_.cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  driver_.Call(driver_.cuStreamDestroy, stream);
  EXPECT_DEATH((void)driver_.cuStreamSynchronize(stream), "is no stream, or is no more");
  EXPECT_DEATH((void)driver_.cuStreamDestroy(stream), "is no stream, or is no more");
  EXPECT_DEATH((void)driver_.cuEventRecord(MakeEvent(), nullptr), "stream 0 is used");
  EXPECT_DEATH(
      {
        int* pinned = Pinned<int>(1);
        (void)driver_.cuMemcpyHtoDAsync(Device(4), pinned, 4, stream_);
        (void)driver_.cuMemFreeHost(pinned);
      },
      "freed before a queued copy is done");
  EXPECT_DEATH(
      {
        const CUfunction function = Function("note");
        (void)driver_.cuLibraryUnload(library_);
        void* parameters[] = {nullptr};
        (void)driver_.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr);
      },
      "is no function of a library that is loaded");
}

TEST_F(FakeDriverDeathTest, ContextsOfTwoDevices) {
  CUcontext second = nullptr;
  const CUdeviceptr memory = Device(4);
  driver_.Call(driver_.cuDevicePrimaryCtxRetain, &second, 1);
  EXPECT_NE(second, context_);
  driver_.Call(driver_.cuCtxPushCurrent, second);
  char note = 'a';
  EXPECT_DEATH((void)Launch("note", &note, stream_, {1, 1, 1}, {1, 1, 1}),
               "in the context of another device");
  EXPECT_DEATH((void)driver_.cuMemFree(memory), "in the context of another device");
  EXPECT_DEATH((void)driver_.cuMemcpyDtoDAsync(memory, memory + 2, 1, MakeStream()),
               "memory of another");
  EXPECT_DEATH((void)driver_.cuEventRecord(MakeEvent(), stream_), "of another device");
  CUcontext popped = nullptr;
  driver_.Call(driver_.cuCtxPopCurrent, &popped);
  EXPECT_EQ(popped, second);
  driver_.Call(driver_.cuDevicePrimaryCtxRelease, 1);
  EXPECT_DEATH((void)driver_.cuCtxPushCurrent(second), "is no context, or is no more");
  EXPECT_EQ(driver_.cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(FakeDriverTest, EachThreadHasItsContexts) {
  std::thread([this] {
    CUdeviceptr memory = 0;
    EXPECT_EQ(driver_.cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(driver_.cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

// ---- Launches

TEST_F(FakeDriverTest, LaunchesThatDevicesRefuse) {
  char note = 'a';
  using Size = std::array<unsigned, 3>;
  const auto launch = [&](Size grid, Size block, unsigned shared_bytes = 0) {
    return Launch("note", &note, stream_, grid, block, shared_bytes);
  };
  EXPECT_EQ(launch({0x7FFFFFFF, 65535, 65535}, {1024, 1, 1}), CUDA_SUCCESS);
  EXPECT_EQ(launch({1, 1, 1}, {1, 16, 64}, 48 << 10), CUDA_SUCCESS);
  for (const Size& grid : {Size{0, 1, 1}, Size{0x80000000, 1, 1}, Size{1, 65536, 1},
                           Size{1, 1, 65536}, Size{1, 0, 1}}) {
    EXPECT_EQ(launch(grid, {1, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  }
  for (const Size& block :
       {Size{0, 1, 1}, Size{1025, 1, 1}, Size{1, 1, 65}, Size{512, 3, 1}, Size{32, 32, 2}}) {
    EXPECT_EQ(launch({1, 1, 1}, block), CUDA_ERROR_INVALID_VALUE);
  }
  const auto more = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const CUfunction function = Function("note");
  EXPECT_EQ(launch({1, 1, 1}, {1, 1, 1}, (48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver_.cuFuncSetAttribute(function, more, (227 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver_.cuFuncSetAttribute(function, more, 227 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch({1, 1, 1}, {1, 1, 1}, 227 << 10), CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, ImagesThatDevicesRefuse) {
  const auto load = [this](const char* magic) {
    const EmulatedImage image = Image(magic);
    CUlibrary library = nullptr;
    return driver_.cuLibraryLoadData(&library, &image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  EXPECT_EQ(load("\x50\xed\x55\xba\x01\x00\x10\x00"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(load(kOtherChipsMagic), CUDA_ERROR_NO_BINARY_FOR_GPU);
  CUkernel kernel = nullptr;
  EXPECT_EQ(driver_.cuLibraryGetKernel(&kernel, library_, "nothing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(FakeDriverTest, LaunchesThatMayBeginEarlySometimesDo) {
  std::set<std::string> logs;
  for (int i = 0; i < 20; ++i) {
    log_of_notes.clear();
    LaunchNote('a', stream_);
    LaunchNoteEarly('b', stream_);
    LaunchNoteEarly('c', stream_);
    EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
    logs.insert(log_of_notes);
  }
  EXPECT_EQ(logs, (std::set<std::string>{"abc", "aearly bc", "early abc"}));
}

TEST_F(FakeDriverDeathTest, LaunchesBeginEarlyBehindLaunchesOnly) {
  EXPECT_DEATH(LaunchNoteEarly('a', stream_), "there is no launch before it in its stream");
  LaunchNote('a', stream_);
  LaunchNoteEarly('b', stream_);
  driver_.Call(driver_.cuMemcpyHtoDAsync, Device(4), Pinned<int>(1), 4, stream_);
  EXPECT_DEATH(LaunchNoteEarly('c', stream_), "there is no launch before it in its stream");
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
}

// ---- Graphs

class FakeGraphTest : public FakeDriverTest {
 protected:
  void Begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    driver_.Call(driver_.cuStreamBeginCapture, stream_, mode);
  }
  CUresult End() {
    CUgraph graph = nullptr;
    const CUresult result = driver_.cuStreamEndCapture(stream_, &graph);
    EXPECT_EQ(graph == nullptr, result != CUDA_SUCCESS);
    if (graph == nullptr) return result;
    driver_.Call(driver_.cuGraphInstantiateWithFlags, &exec_, graph, 0);
    driver_.Call(driver_.cuGraphDestroy, graph);
    return result;
  }

  CUgraphExec exec_ = nullptr;
};

TEST_F(FakeGraphTest, RunsWhatWasRecordedEachTimeItIsLaunched) {
  const CUdeviceptr device = Device(4);
  int* host = Pinned<int>(2);
  host[0] = 5;
  AddArgs args = {reinterpret_cast<int*>(device), 1};
  Begin();
  driver_.Call(driver_.cuMemcpyHtoDAsync, device, host, 4, stream_);
  EXPECT_EQ(Launch("add", &args, stream_, {1, 1, 1}, {1, 1, 1}), CUDA_SUCCESS);
  EXPECT_EQ(Launch("add", &args, stream_, {1, 1, 1}, {1, 1, 1}), CUDA_SUCCESS);
  args = {nullptr, 0};  // the launch has copied it
  driver_.Call(driver_.cuMemcpyDtoHAsync, host + 1, device, 4, stream_);
  ASSERT_EQ(End(), CUDA_SUCCESS);
  host[1] = 0;
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(host[1], 0) << "recorded, not run";
  for (int input : {7, 9}) {
    host[0] = input;
    driver_.Call(driver_.cuGraphLaunch, exec_, stream_);
    EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(host[1], input + 2);
  }
  host[0] = 20;
  driver_.Call(driver_.cuGraphLaunch, exec_, stream_);
  driver_.Call(driver_.cuGraphExecDestroy, exec_);
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(host[1], 22) << "was launched before it was destroyed";
}

TEST_F(FakeGraphTest, ItsLaunchesMayBeginEarlyAsWell) {
  LaunchNote('a', stream_);
  EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
  Begin();
  EXPECT_DEATH(LaunchNoteEarly('a', stream_), "there is no launch before it in its stream");
  LaunchNote('a', stream_);
  LaunchNoteEarly('b', stream_);
  ASSERT_EQ(End(), CUDA_SUCCESS);
  std::set<std::string> logs;
  for (int i = 0; i < 20; ++i) {
    log_of_notes.clear();
    driver_.Call(driver_.cuGraphLaunch, exec_, stream_);
    EXPECT_EQ(Synchronize(stream_), CUDA_SUCCESS);
    logs.insert(log_of_notes);
  }
  driver_.Call(driver_.cuGraphExecDestroy, exec_);
  EXPECT_EQ(logs, (std::set<std::string>{"ab", "early ab"}));
}

TEST_F(FakeGraphTest, ItsEventsTellTheTimeWithoutTheHosts) {
  const CUevent begin = MakeEvent();
  const CUevent end = MakeEvent();
  const unsigned external = CU_EVENT_RECORD_EXTERNAL;
  EXPECT_EQ(driver_.cuEventRecordWithFlags(begin, stream_, external), CUDA_ERROR_INVALID_VALUE);
  Begin();
  driver_.Call(driver_.cuEventRecordWithFlags, begin, stream_, external);
  LaunchNote('a', stream_);
  LaunchNote('b', stream_);
  driver_.Call(driver_.cuEventRecordWithFlags, end, stream_, external);
  ASSERT_EQ(End(), CUDA_SUCCESS);
  float ms = -1;
  EXPECT_EQ(driver_.cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE);
  for (int i = 0; i < 2; ++i) {
    driver_.Call(driver_.cuGraphLaunch, exec_, stream_);
    EXPECT_EQ(driver_.cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_NOT_READY);
    driver_.Call(driver_.cuEventSynchronize, end);
    driver_.Call(driver_.cuEventElapsedTime, &ms, begin, end);
    EXPECT_FLOAT_EQ(ms, 0.002f);
  }
  driver_.Call(driver_.cuGraphExecDestroy, exec_);
}

TEST_F(FakeGraphTest, WhatMayNotBeRecorded) {
  CUdeviceptr memory = 0;
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_GLOBAL}) {
    Begin(mode);
    EXPECT_EQ(driver_.cuMemAlloc(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(End(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }
  Begin();
  EXPECT_EQ(Synchronize(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(End(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  const CUevent event = MakeEvent();
  Begin();
  driver_.Call(driver_.cuEventRecord, event, stream_);
  EXPECT_EQ(driver_.cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
  ASSERT_EQ(End(), CUDA_SUCCESS);
  driver_.Call(driver_.cuGraphExecDestroy, exec_);
  EXPECT_EQ(driver_.cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(End(), CUDA_ERROR_INVALID_VALUE) << "nothing is recorded";
}

TEST_F(FakeGraphTest, ModesSayWhichThreadsAreConcerned) {
  const auto allocate_elsewhere = [this] {
    CUresult result = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
      CUdeviceptr memory = 0;
      driver_.Call(driver_.cuCtxPushCurrent, context_);
      result = driver_.cuMemAlloc(&memory, 4);
      if (result == CUDA_SUCCESS) memory_.push_back(memory);
      driver_.Call(driver_.cuCtxPopCurrent, nullptr);
    }).join();
    return result;
  };
  Begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(allocate_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(End(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  Begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(allocate_elsewhere(), CUDA_SUCCESS);
  std::thread([this] { EXPECT_EQ(End(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD); }).join();
  EXPECT_EQ(End(), CUDA_SUCCESS);
  driver_.Call(driver_.cuGraphExecDestroy, exec_);
}

using FakeGraphDeathTest = FakeGraphTest;

TEST_F(FakeGraphDeathTest, CopiesMemoryThatWasFreedSince) {
  EXPECT_DEATH(
      {
        CUdeviceptr memory = 0;
        driver_.Call(driver_.cuMemAlloc, &memory, 4);
        Begin();
        driver_.Call(driver_.cuMemcpyDtoDAsync, memory, memory + 2, 2, stream_);
        (void)End();
        driver_.Call(driver_.cuMemFree, memory);
        driver_.Call(driver_.cuGraphLaunch, exec_, stream_);
        (void)Synchronize(stream_);
      },
      "is no device memory, or no more");
}

// ---- Failures

// Uses each kind of thing once, and releases all that it has made even if a call fails.
void UseEverything(const CudaDriver& driver) {
  std::vector<std::function<void()>> releases;
  struct AtEnd {
    std::vector<std::function<void()>>& releases;
    ~AtEnd() {
      for (; !releases.empty(); releases.pop_back()) releases.back()();
    }
  } at_end{releases};
  const auto later = [&](auto release) { releases.push_back(release); };

  CUcontext context = nullptr;
  driver.Call(driver.cuDevicePrimaryCtxRetain, &context, 0);
  later([&] { (void)driver.cuDevicePrimaryCtxRelease(0); });
  driver.Call(driver.cuCtxPushCurrent, context);
  later([&] { (void)driver.cuCtxPopCurrent(nullptr); });
  const EmulatedImage image = Image(kEmulatedImageMagic);
  CUlibrary library = nullptr;
  driver.Call(driver.cuLibraryLoadData, &library, &image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  later([&driver, library] { (void)driver.cuLibraryUnload(library); });
  CUstream stream = nullptr;
  driver.Call(driver.cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  later([&driver, stream] { (void)driver.cuStreamDestroy(stream); });
  CUdeviceptr memory = 0;
  driver.Call(driver.cuMemAlloc, &memory, 4);
  later([&driver, memory] { (void)driver.cuMemFree(memory); });
  void* pinned = nullptr;
  driver.Call(driver.cuMemHostAlloc, &pinned, 4, 0);
  later([&driver, pinned] { (void)driver.cuMemFreeHost(pinned); });
  later([&driver, stream] { (void)driver.cuStreamSynchronize(stream); });
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  driver.Call(driver.cuLibraryGetKernel, &kernel, library, "add");
  driver.Call(driver.cuKernelGetFunction, &function, kernel);
  AddArgs args = {reinterpret_cast<int*>(memory), 1};
  void* parameters[] = {&args};

  driver.Call(driver.cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUgraph graph = nullptr;
  const CUresult launched =
      driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  const CUresult ended = driver.cuStreamEndCapture(stream, &graph);
  if (graph != nullptr) later([&driver, graph] { (void)driver.cuGraphDestroy(graph); });
  if (launched != CUDA_SUCCESS) driver.Fail("cuLaunchKernel", launched);
  if (ended != CUDA_SUCCESS) driver.Fail("cuStreamEndCapture", ended);
  CUgraphExec exec = nullptr;
  driver.Call(driver.cuGraphInstantiateWithFlags, &exec, graph, 0);
  later([&driver, exec] { (void)driver.cuGraphExecDestroy(exec); });

  driver.Call(driver.cuMemcpyHtoDAsync, memory, pinned, 4, stream);
  driver.Call(driver.cuGraphLaunch, exec, stream);
  driver.Call(driver.cuMemcpyDtoHAsync, pinned, memory, 4, stream);
  driver.Call(driver.cuStreamSynchronize, stream);
}

TEST(FakeDriverFailures, EveryCallFailsOnRequestAndNothingIsLeft) {
  const CudaDriver driver = LoadCudaDriver(FindFakeCudaSymbol);
  fake_cuda_reset();
  UseEverything(driver);
  const uint64_t calls = fake_cuda_calls();
  ASSERT_GT(calls, 20u);
  ASSERT_EQ(fake_cuda_leaks(), 0u);
  uint64_t unseen = 0;
  for (uint64_t n = 1; n <= calls; ++n) {
    fake_cuda_reset();
    fake_cuda_fail_call(n, CUDA_ERROR_OUT_OF_MEMORY);
    const std::string error = ErrorOf<OpError>([&] { UseEverything(driver); });
    ASSERT_NE(fake_cuda_failed_call(), nullptr) << n;
    EXPECT_EQ(fake_cuda_leaks(), 0u) << fake_cuda_failed_call();
    if (error == "no error") {
      ++unseen;  // only calls that release something fail unseen
    } else {
      EXPECT_EQ(error, std::string(fake_cuda_failed_call()) +
                           ": CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
    }
  }
  EXPECT_EQ(unseen, 9u);
  fake_cuda_reset();
  EXPECT_EQ(ErrorOf<OpError>([&] { UseEverything(driver); }), "no error");
}

TEST(FakeDriverFailures, FaultsBreakTheDevice) {
  const CudaDriver driver = LoadCudaDriver(FindFakeCudaSymbol);
  fake_cuda_reset();
  UseEverything(driver);
  const uint64_t calls = fake_cuda_calls();
  for (uint64_t n = 1; n <= calls; ++n) {
    fake_cuda_reset();
    fake_cuda_fail_call(n, CUDA_ERROR_ILLEGAL_ADDRESS);
    const std::string error = ErrorOf<OpError>([&] { UseEverything(driver); });
    EXPECT_EQ(fake_cuda_leaks(), 0u) << fake_cuda_failed_call();
    CUcontext context = nullptr;
    const std::string failed = fake_cuda_failed_call();
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_ILLEGAL_ADDRESS) << failed;
    if (failed == "cuLaunchKernel" || failed == "cuGraphLaunch") {
      EXPECT_EQ(error,
                "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access "
                "was encountered");
    }
  }
  fake_cuda_reset();
  EXPECT_EQ(ErrorOf<OpError>([&] { UseEverything(driver); }), "no error");
}

TEST(FakeDriverFailures, NothingWorksAfterAFork) {
  const CudaDriver driver = LoadCudaDriver(FindFakeCudaSymbol);
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(static_cast<int>(driver.cuDeviceGetCount(&count)));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(CUDA_ERROR_NOT_INITIALIZED));
}

TEST(FakeDriverFailures, LeaksAreCounted) {
  const CudaDriver driver = LoadCudaDriver(FindFakeCudaSymbol);
  fake_cuda_reset();
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CUevent event = nullptr;
  driver.Call(driver.cuDevicePrimaryCtxRetain, &context, 0);
  driver.Call(driver.cuCtxPushCurrent, context);
  driver.Call(driver.cuMemAlloc, &memory, 4);
  driver.Call(driver.cuEventCreate, &event, 0);
  EXPECT_EQ(fake_cuda_leaks(), 4u);
  driver.Call(driver.cuEventDestroy, event);
  driver.Call(driver.cuMemFree, memory);
  driver.Call(driver.cuCtxPopCurrent, nullptr);
  driver.Call(driver.cuDevicePrimaryCtxRelease, 0);
  EXPECT_EQ(fake_cuda_leaks(), 0u);
}

}  // namespace
}  // namespace larq_engine::testing
