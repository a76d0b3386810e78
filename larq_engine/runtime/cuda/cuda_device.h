// A GPU of this machine: its context, which the whole process shares, and our kernels, loaded into
// it.
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
  // Throws OpError that says what is missing. `driver` must outlive the device.
  CudaDevice(const CudaDriver& driver, const LarqEngineCudaImage& image, int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // Makes the context current in this thread for the lifetime of the object. Other code in the
  // process may capture graphs meanwhile, as PyTorch does. Our calls must not invalidate those
  // captures, so the thread's capture mode is relaxed.
  class Current {
   public:
    explicit Current(const CudaDevice& device);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const CudaDevice& device_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the thread's own mode
  };

  // Calls `work`, which releases something, with the context current. Errors are ignored: in a
  // forked process, or one that is ending, there is nothing to release, and any other error is
  // reported to the next caller.
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
  const std::string& name() const { return name_; }  // as NVIDIA names it
  const cuda::Chip& chip() const { return chip_; }
  // Returns the name, what limits the speed, and the version of the driver.
  std::string Description() const;
  // Returns what else a user should know of the GPU, to be printed behind the description, or an
  // empty text.
  std::string Caveat() const;
  // Tells whether a launch may begin before the one before it is complete
  // (kernels/cuda/run_kernel.h).
  bool begins_launches_early() const { return begins_launches_early_; }
  CUfunction Function(cuda::KernelId kernel) const {
    return functions_[static_cast<size_t>(kernel)];
  }

 private:
  void Load(const LarqEngineCudaImage& image);
  // Throws OpError if the call failed. If the chip or the driver is the reason, the error says for
  // which of them there is code.
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

// Returns the number of GPUs that this machine's driver knows. Throws OpError that says what is
// missing.
int CountCudaDevices();

// Returns the GPU with this number, with the kernels of the second library loaded. Callers share it
// as long as one of them holds it. Throws OpError.
std::shared_ptr<CudaDevice> OpenCudaDevice(int ordinal);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_DEVICE_H_
