#include "larq_engine/runtime/cuda/cuda_queue.h"

#include <limits>
#include <string>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// Of every chip.
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();

}  // namespace

CudaQueue::CudaQueue(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {
  const CudaDevice::Current current(*device_);
  // Others in the process may use the stream that all share: it would make us wait for each other.
  driver().Call(driver().cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
}

CudaQueue::~CudaQueue() {
  device_->Releasing([&] { (void)driver().cuStreamDestroy(stream_); });
}

void CudaQueue::Add(const Launch& launch, CUstream stream) const {
  const cuda::LaunchSize& size = launch.size;
  if (size.blocks > kMostBlocks) {
    throw OpError("expected at most " + std::to_string(kMostBlocks) +
                  " blocks of GPU threads, got " + std::to_string(size.blocks) +
                  "; run smaller batches");
  }
  void* parameters[] = {const_cast<uint64_t*>(launch.args.data())};
  driver().Call(driver().cuLaunchKernel, device_->Function(launch.kernel),
                static_cast<unsigned>(size.blocks), 1, 1, size.threads, 1, 1, size.shared_bytes,
                stream, parameters, nullptr);
}

}  // namespace larq_engine
