// A GPU of this machine: its context, which all of a process share, and our kernels on it.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_DEVICE_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/image.h"
#include "larq_engine/kernels/cuda/kernel_table.h"
#include "larq_engine/runtime/cuda/driver.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

class CudaDevice {
 public:
  // Throws OpError that says what is missing. The driver must outlive it.
  CudaDevice(const CudaDriver& driver, const LarqEngineCudaImage& image, int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // Makes the context this thread's as long as it lives. Others in the process may capture graphs
  // meanwhile, as PyTorch does: what we call must not spoil those.
  class Current {
   public:
    explicit Current(const CudaDevice& device);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const CudaDevice& device_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // the thread's own afterwards
  };

  // Calls `work` with the context current. Where the process was forked or ends there is nothing to
  // release, and whatever fails is told to whoever runs next.
  template <typename Work>
  void Releasing(const Work& work) const noexcept {
    try {
      const Current current(*this);
      work();
    } catch (const OpError&) {
    }
  }

  const CudaDriver& driver() const { return driver_; }
  int ordinal() const { return device_; }
  const std::string& name() const { return name_; }  // NVIDIA's
  const cuda::Chip& chip() const { return chip_; }
  // Its name and what bounds its speed, and the driver.
  std::string Description() const;
  // What else a user should know of it, behind the description. Empty if nothing.
  std::string Caveat() const;
  // Tells whether a launch may begin before the one before it is complete
  // (kernels/cuda/run_kernel.h).
  bool begins_launches_early() const { return begins_launches_early_; }
  CUfunction Function(cuda::KernelId kernel) const {
    return functions_[static_cast<size_t>(kernel)];
  }

 private:
  void Load(const LarqEngineCudaImage& image);
  // Throws OpError, which says what chips and drivers there is code for where that is the reason.
  void CheckLoaded(const char* call, CUresult result) const;
  void Release();

  const CudaDriver& driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUlibrary library_ = nullptr;
  std::string name_;
  cuda::Chip chip_;
  bool begins_launches_early_ = false;
  std::vector<CUfunction> functions_;  // by KernelId
};

// Of this machine's driver. Throws OpError that says what is missing.
int CountCudaDevices();

// The GPU with this number of the machine's driver, with the kernels of the second library. Those
// who ask for it at the same time share it. Throws OpError.
std::shared_ptr<CudaDevice> OpenCudaDevice(int ordinal);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_DEVICE_H_
