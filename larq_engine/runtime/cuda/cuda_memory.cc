#include "larq_engine/runtime/cuda/cuda_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

#include "larq_engine/runtime/cuda/expected_seconds.h"

namespace larq_engine {
namespace {

// A copy goes piece by piece through two pieces of staging: while the device moves one, the host
// fills or empties the other. So pinned memory, which the host cannot use otherwise, does not grow
// with the tensors. The device takes 80 us for a piece, so the latency of a copy matters little.
constexpr size_t kPieceBytes = 4 << 20;
constexpr size_t kPieces = 2;

// Rounds the size of a staging up, so that later copies of other sizes can use it too.
size_t StagingSize(size_t bytes) {
  return std::bit_ceil(std::clamp<size_t>(bytes, 4096, kPieceBytes));
}

}  // namespace

// Holds a staging, whose earlier work is complete, and gives it back at the end.
class CudaMemory::StagingLease {
 public:
  StagingLease(CudaMemory& memory, size_t bytes)
      : memory_(memory), staging_(memory.FindOrAdd(bytes)) {
    try {
      Wait();
    } catch (...) {
      memory_.GiveBack(staging_);
      throw;
    }
  }
  ~StagingLease() { memory_.GiveBack(staging_); }
  StagingLease(const StagingLease&) = delete;
  StagingLease& operator=(const StagingLease&) = delete;

  std::byte* data() const { return staging_->data; }
  // Records the end of the queued work that uses the staging. If the event cannot be recorded, this
  // waits for the work, because others get the memory next.
  void Record() const {
    const CUstream stream = memory_.queue_.stream();
    const CUresult result = driver().cuEventRecord(staging_->done.get(), stream);
    if (result == CUDA_SUCCESS) return;
    (void)driver().cuStreamSynchronize(stream);
    driver().Fail(driver().cuEventRecord.name, result);
  }
  void Wait() const { driver().Call(driver().cuEventSynchronize, staging_->done.get()); }

 private:
  const CudaDriver& driver() const { return memory_.queue_.driver(); }

  CudaMemory& memory_;
  Stagings::iterator staging_;
};

CudaMemory::~CudaMemory() {
  queue_.device().Releasing([&] {
    for (const Staging& staging : stagings_) {
      (void)queue_.driver().cuMemFreeHost(staging.data);
    }
    stagings_.clear();
  });
}

std::byte* CudaMemory::Allocate(size_t bytes) {
  const CudaDevice::Current current(queue_.device());
  CUdeviceptr memory = 0;
  const CudaDriver& driver = queue_.driver();
  // The driver refuses to allocate 0 bytes.
  driver.Allocate(driver.cuMemAlloc, &memory, std::max<size_t>(bytes, 1));
  return reinterpret_cast<std::byte*>(memory);
}

void CudaMemory::Free(std::byte* memory) noexcept {
  if (memory == nullptr) return;
  queue_.device().Releasing(
      [&] { (void)queue_.driver().cuMemFree(reinterpret_cast<CUdeviceptr>(memory)); });
}

double CudaMemory::Seconds(size_t bytes) const {
  return CopySeconds(bytes, copies_.ThreadsOf(std::min(bytes, kPieceBytes)));
}

void CudaMemory::Wait() noexcept {
  queue_.device().Releasing([&] { queue_.Wait(); });
}

size_t CudaMemory::StagingBytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t bytes = 0;
  for (const Staging& staging : stagings_) bytes += staging.bytes;
  return bytes;
}

void CudaMemory::ReserveStaging(size_t bytes) {
  if (bytes == 0) return;
  const size_t size = StagingSize(bytes);
  copies_.Reserve(bytes);
  const CudaDevice::Current current(queue_.device());
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_enough = [&](const Staging& staging) { return staging.bytes >= size; };
  size_t found = static_cast<size_t>(std::ranges::count_if(stagings_, is_enough));
  for (; found < kPieces; ++found) Add(size)->is_taken = false;
}

// Adds a staging, which is marked as taken.
CudaMemory::Stagings::iterator CudaMemory::Add(size_t bytes) {
  const CudaDriver& driver = queue_.driver();
  CudaEvent done(driver, CU_EVENT_DISABLE_TIMING);
  Staging& added = stagings_.emplace_back(
      Staging{.data = nullptr, .bytes = bytes, .done = std::move(done), .is_taken = true});
  try {
    void* data = nullptr;
    driver.Allocate(driver.cuMemHostAlloc, &data, bytes, CU_MEMHOSTALLOC_PORTABLE);
    added.data = static_cast<std::byte*>(data);
  } catch (...) {
    stagings_.pop_back();
    throw;
  }
  return std::prev(stagings_.end());
}

// Takes a staging that is large enough. The one that was given back first is taken, so that a copy
// takes its two pieces in turn. A staging that another thread has taken is not waited for: that
// thread may wait for the device, and hold it for long.
CudaMemory::Stagings::iterator CudaMemory::FindOrAdd(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::ranges::find_if(stagings_, [&](const Staging& staging) {
    return !staging.is_taken && staging.bytes >= bytes;
  });
  if (found == stagings_.end()) return Add(StagingSize(bytes));
  found->is_taken = true;
  return found;
}

void CudaMemory::GiveBack(Stagings::iterator staging) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  staging->is_taken = false;
  stagings_.splice(stagings_.end(), stagings_, staging);
}

void CudaMemory::CopyIn(const std::byte* host, size_t bytes, std::byte* device) {
  if (bytes == 0) return;
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  for (size_t begin = 0; begin < bytes; begin += kPieceBytes) {
    const size_t piece = std::min(kPieceBytes, bytes - begin);
    const StagingLease staging(*this, piece);
    copies_.Copy(host + begin, piece, staging.data());
    driver.Call(driver.cuMemcpyHtoDAsync, reinterpret_cast<CUdeviceptr>(device + begin),
                staging.data(), piece, queue_.stream());
    staging.Record();
  }
}

void CudaMemory::CopyOut(const std::byte* device, size_t bytes, std::byte* host) {
  if (bytes == 0) return queue_.Wait();
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  const size_t pieces = (bytes - 1) / kPieceBytes + 1;
  const auto size = [&](size_t piece) {
    return std::min(kPieceBytes, bytes - piece * kPieceBytes);
  };
  std::array<std::optional<StagingLease>, kPieces> under_way;
  for (size_t next = 0; next < pieces + kPieces; ++next) {
    std::optional<StagingLease>& staging = under_way[next % kPieces];
    if (staging) {
      const size_t piece = next - kPieces;
      staging->Wait();
      copies_.Copy(staging->data(), size(piece), host + piece * kPieceBytes);
      staging.reset();
    }
    if (next >= pieces) continue;
    staging.emplace(*this, size(next));
    driver.Call(driver.cuMemcpyDtoHAsync, staging->data(),
                reinterpret_cast<CUdeviceptr>(device + next * kPieceBytes), size(next),
                queue_.stream());
    staging->Record();
  }
}

// The driver does not know the address of an unpinned array, and returns an error for it.
bool CudaMemory::IsPinned(const std::byte* byte) const {
  const CudaDriver& driver = queue_.driver();
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  const CUresult result = driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                       reinterpret_cast<CUdeviceptr>(byte));
  if (result == CUDA_ERROR_INVALID_VALUE) return false;
  if (result != CUDA_SUCCESS) driver.Fail(driver.cuPointerGetAttribute.name, result);
  return type == CU_MEMORYTYPE_HOST;
}

void CudaMemory::CopyGiven(const std::byte* host, size_t bytes, std::byte* device) {
  if (bytes == 0) return;
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  if (!IsPinned(host) || !IsPinned(host + bytes - 1)) return CopyIn(host, bytes, device);
  const CUresult result =
      driver.cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(device), host, bytes, queue_.stream());
  // The driver refuses a copy that begins in one block of pinned memory and ends in another.
  if (result == CUDA_ERROR_INVALID_VALUE) return CopyIn(host, bytes, device);
  if (result != CUDA_SUCCESS) driver.Fail(driver.cuMemcpyHtoDAsync.name, result);
}

// The maker of the data may have queued work for it to the legacy stream, as it was told; our
// stream does not wait for that stream by itself.
void CudaMemory::AwaitMade(const std::byte* made, size_t bytes) {
  if (bytes == 0) return;
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  CheckIsThere(made, ", got ");
  // A copy that reads past the end of the memory would break the GPU for the whole process.
  CheckIsThere(made + bytes - 1,
               ", got an array that ends before the " + std::to_string(bytes) + " bytes do, in ");
  driver.Call(driver.cuStreamSynchronize, CU_STREAM_LEGACY);
}

void CudaMemory::CheckIsThere(const std::byte* byte, const std::string& got) const {
  const CudaDriver& driver = queue_.driver();
  const auto address = reinterpret_cast<CUdeviceptr>(byte);
  const std::string expected =
      "expected data in the memory of GPU " + std::to_string(queue_.device().ordinal()) + got;
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const CUresult result =
      driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (result == CUDA_ERROR_INVALID_VALUE) throw OpError(expected + "an address that is in none");
  if (result != CUDA_SUCCESS) driver.Fail(driver.cuPointerGetAttribute.name, result);
  if (type != CU_MEMORYTYPE_DEVICE) throw OpError(expected + "the host's memory");
  int ordinal = -1;
  driver.Call(driver.cuPointerGetAttribute, &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  if (ordinal != queue_.device().ordinal()) {
    throw OpError(expected + "that of GPU " + std::to_string(ordinal) +
                  "; copy it there, or set the option device to cuda:" + std::to_string(ordinal));
  }
}

void CudaMemory::CopyMade(const std::byte* made, size_t bytes, std::byte* device) {
  if (bytes == 0) return;
  const CudaDriver& driver = queue_.driver();
  const CudaDevice::Current current(queue_.device());
  driver.Call(driver.cuMemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(device),
              reinterpret_cast<CUdeviceptr>(made), bytes, queue_.stream());
}

}  // namespace larq_engine
