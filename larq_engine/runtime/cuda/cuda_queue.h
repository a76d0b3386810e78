// The stream of one delegate on a GPU: work is done in the order in which it is queued.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_QUEUE_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_QUEUE_H_

#include <memory>
#include <utility>

#include "larq_engine/runtime/cuda/cuda_device.h"
#include "larq_engine/runtime/cuda/launch.h"

namespace larq_engine {

// Tells when a launch begins.
enum class Begin {
  kInTurn,  // when all earlier work in its stream is complete
  // When all blocks of the launch before it have begun, if the device supports that; its kernel
  // itself waits until that launch is complete. The launch before it must be one of ours, whose
  // kernel allows this.
  kEarly,
};

class CudaQueue {
 public:
  explicit CudaQueue(std::shared_ptr<CudaDevice> device);
  ~CudaQueue();
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  const CudaDevice& device() const { return *device_; }
  const CudaDriver& driver() const { return device_->driver(); }
  CUstream stream() const { return stream_; }

  // Queues the launch to this stream, or to another one, for example one that is captured as a
  // graph.
  void Add(const Launch& launch, CUstream stream, Begin begin) const;
  void Add(const Launch& launch) const { Add(launch, stream_, Begin::kInTurn); }

  // Waits until all queued work is complete. Throws OpError with the error of any of it.
  void Wait() const { driver().Call(driver().cuStreamSynchronize, stream_); }

 private:
  std::shared_ptr<CudaDevice> device_;
  CUstream stream_ = nullptr;
};

// Owns a CUevent. All calls need a current context.
class CudaEvent {
 public:
  CudaEvent(const CudaDriver& driver, unsigned flags) : driver_(&driver) {
    driver.Call(driver.cuEventCreate, &event_, flags);
  }
  ~CudaEvent() {
    if (event_ != nullptr) (void)driver_->cuEventDestroy(event_);
  }
  CudaEvent(CudaEvent&& other) noexcept
      : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;

  CUevent get() const { return event_; }

 private:
  const CudaDriver* driver_;
  CUevent event_ = nullptr;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_QUEUE_H_
