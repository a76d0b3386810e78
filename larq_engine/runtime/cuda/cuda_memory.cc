#include "larq_engine/runtime/cuda/cuda_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

class CudaMemory::Taken {
 public:
  Taken(CudaMemory& memory, size_t bytes) : memory_(memory), staging_(memory.Take(bytes)) {}
  ~Taken() { memory_.GiveBack(staging_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  Staging* operator->() const { return &staging_; }

 private:
  CudaMemory& memory_;
  Staging& staging_;
};

CudaMemory::~CudaMemory() {
  try {
    const CudaDevice::Current current(queue_.device());
    for (const Staging& staging : stagings_) {
      (void)queue_.driver().cuMemFreeHost(staging.data);
    }
    stagings_.clear();
  } catch (const OpError&) {  // the process was forked
  }
}

std::byte* CudaMemory::Allocate(size_t bytes) {
  const CudaDevice::Current current(queue_.device());
  CUdeviceptr memory = 0;
  const CudaDriver& driver = queue_.driver();
  // Of nothing there is no address.
  const CUresult result = driver.cuMemAlloc(&memory, std::max<size_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result != CUDA_SUCCESS) driver.Fail(driver.cuMemAlloc.name, result);
  return reinterpret_cast<std::byte*>(memory);
}

void CudaMemory::Free(std::byte* memory) noexcept {
  if (memory == nullptr) return;
  try {
    const CudaDevice::Current current(queue_.device());
    (void)queue_.driver().cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  } catch (const OpError&) {  // the process was forked
  }
}

// Estimates: PCIe 5 x16, and the latency of a small copy.
double CudaMemory::Seconds(size_t bytes) const { return 10e-6 + static_cast<double>(bytes) / 50e9; }

void CudaMemory::Wait() noexcept {
  try {
    const CudaDevice::Current current(queue_.device());
    queue_.Wait();
  } catch (const OpError&) {  // whoever runs next hears of it
  }
}

CudaMemory::Staging& CudaMemory::Take(size_t bytes) {
  const CudaDriver& driver = queue_.driver();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Staging& staging : stagings_) {
    if (staging.is_taken || staging.bytes < bytes) continue;
    const CUresult done = driver.cuEventQuery(staging.done.get());
    if (done == CUDA_ERROR_NOT_READY) continue;
    if (done != CUDA_SUCCESS) driver.Fail(driver.cuEventQuery.name, done);
    staging.is_taken = true;
    return staging;
  }
  CudaEvent done(driver, CU_EVENT_DISABLE_TIMING);
  Staging& added = stagings_.emplace_back(
      Staging{.data = nullptr, .bytes = 0, .done = std::move(done), .is_taken = true});
  try {
    // Sizes that later copies can use as well.
    const size_t rounded = std::bit_ceil(std::max<size_t>(bytes, 4096));
    void* data = nullptr;
    const CUresult result = driver.cuMemHostAlloc(&data, rounded, CU_MEMHOSTALLOC_PORTABLE);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (result != CUDA_SUCCESS) driver.Fail(driver.cuMemHostAlloc.name, result);
    added.data = static_cast<std::byte*>(data);
    added.bytes = rounded;
  } catch (...) {
    stagings_.pop_back();
    throw;
  }
  return added;
}

void CudaMemory::GiveBack(Staging& staging) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  staging.is_taken = false;
}

void CudaMemory::CopyIn(const std::byte* host, size_t bytes, std::byte* device) {
  if (bytes == 0) return;
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  const Taken staging(*this, bytes);
  std::memcpy(staging->data, host, bytes);
  driver.Call(driver.cuMemcpyHtoDAsync, reinterpret_cast<CUdeviceptr>(device), staging->data, bytes,
              queue_.stream());
  driver.Call(driver.cuEventRecord, staging->done.get(), queue_.stream());
}

void CudaMemory::CopyOut(const std::byte* device, size_t bytes, std::byte* host) {
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  if (bytes == 0) return queue_.Wait();
  const Taken staging(*this, bytes);
  driver.Call(driver.cuMemcpyDtoHAsync, staging->data, reinterpret_cast<CUdeviceptr>(device), bytes,
              queue_.stream());
  queue_.Wait();
  std::memcpy(host, staging->data, bytes);
}

}  // namespace larq_engine
