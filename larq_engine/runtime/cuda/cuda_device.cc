#include "larq_engine/runtime/cuda/cuda_device.h"

#include <cstdlib>
#include <string_view>

#include "larq_engine/runtime/cuda/cuda_image.h"
#include "larq_engine/runtime/cuda/expected_seconds.h"
#include "larq_engine/runtime/shared_by_key.h"

namespace larq_engine {
namespace {

// Bytes of shared memory that a kernel may use without cuFuncSetAttribute.
constexpr uint32_t kSharedBytesOfAll = 48 << 10;

// Tells whether launches begin early, which chips of compute capability 9.0 and newer support, and
// graphs since CUDA 12.3. The environment variable serves to measure the gain, and to turn early
// launches off if they cause trouble.
bool BeginsLaunchesEarly(const CudaDriver& driver, const cuda::Chip& chip) {
  constexpr int kOldestDriver = 12030;
  const char* const asked = std::getenv("LARQ_ENGINE_EARLY_LAUNCHES");
  const bool is_off = asked != nullptr && std::string_view(asked) == "off";
  return !is_off && chip.compute_capability >= 90 && driver.version >= kOldestDriver &&
         driver.cuLaunchKernelEx.pointer != nullptr;
}

std::string Dotted(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

}  // namespace

CudaDevice::CudaDevice(const CudaDriver& driver, const LarqEngineCudaImage& image, int ordinal)
    : driver_(driver) {
  int count = 0;
  driver_.Call(driver_.cuDeviceGetCount, &count);
  if (ordinal >= count) {
    throw OpError("expected GPU " + std::to_string(ordinal) + ", got " + std::to_string(count) +
                  (count == 0 ? " GPUs; see what nvidia-smi lists, and CUDA_VISIBLE_DEVICES"
                              : " GPUs, of which the first is 0"));
  }
  driver_.Call(driver_.cuDeviceGet, &device_, ordinal);
  char name[256] = {};
  driver_.Call(driver_.cuDeviceGetName, name, static_cast<int>(sizeof(name)) - 1, device_);
  name_ = name;
  int major = 0;
  int minor = 0;
  driver_.Call(driver_.cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
               device_);
  driver_.Call(driver_.cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
               device_);
  driver_.Call(driver_.cuDeviceGetAttribute, &chip_.multiprocessors,
               CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_);
  chip_.compute_capability = 10 * major + minor;
  begins_launches_early_ = BeginsLaunchesEarly(driver_, chip_);
  driver_.Call(driver_.cuDevicePrimaryCtxRetain, &context_, device_);
  try {
    Load(image);
  } catch (...) {
    Release();
    throw;
  }
}

std::string CudaDevice::Description() const {
  return name_ + ", compute capability " + Dotted(chip_.compute_capability) + ", " +
         std::to_string(chip_.multiprocessors) + " multiprocessors, driver for " +
         CudaVersionText(driver_.version);
}

std::string CudaDevice::Caveat() const {
  if (chip_.compute_capability == cuda::kMeasuredChip) {
    return std::string(", some times for device=auto are guesses: ") + kGuessedSeconds;
  }
  return ", kernels and devices are chosen by guesses (times were measured on compute capability " +
         Dotted(cuda::kMeasuredChip) + " only)";
}

void CudaDevice::CheckLoaded(const char* call, CUresult result) const {
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
      result == CUDA_ERROR_INVALID_IMAGE) {
    throw OpError(
        "the kernels are for compute capability 7.5 and newer, and a driver that reads "
        "what CUDA 13.0 compiles; got " +
        Description() + ": update the driver");
  }
  if (result != CUDA_SUCCESS) driver_.Fail(call, result);
}

void CudaDevice::Load(const LarqEngineCudaImage& image) {
  const Current current(*this);
  CUlibrary library = nullptr;
  CheckLoaded(
      driver_.cuLibraryLoadData.name,
      driver_.cuLibraryLoadData(&library, image.data, nullptr, nullptr, 0, nullptr, nullptr, 0));
  library_ = library;
  int most_shared_bytes = 0;
  driver_.Call(driver_.cuDeviceGetAttribute, &most_shared_bytes,
               CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device_);
  for (const cuda::KernelRow& row : cuda::KernelRows()) {
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    driver_.Call(driver_.cuLibraryGetKernel, &kernel, library_, row.symbol);
    // Some drivers load no code before one of its kernels is asked for, so this call may fail as
    // loading does.
    CheckLoaded(driver_.cuKernelGetFunction.name, driver_.cuKernelGetFunction(&function, kernel));
    // A kernel that needs more than the chip has is for other chips, and is not launched on this
    // one.
    if (row.shared_bytes > kSharedBytesOfAll &&
        row.shared_bytes <= static_cast<uint32_t>(most_shared_bytes)) {
      driver_.Call(driver_.cuFuncSetAttribute, function,
                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   static_cast<int>(row.shared_bytes));
    }
    functions_.push_back(function);
  }
}

void CudaDevice::Release() {
  if (library_ != nullptr) Releasing([&] { (void)driver_.cuLibraryUnload(library_); });
  (void)driver_.cuDevicePrimaryCtxRelease(device_);
}

CudaDevice::~CudaDevice() { Release(); }

CudaDevice::Current::Current(const CudaDevice& device) : device_(device) {
  device_.driver_.Call(device_.driver_.cuCtxPushCurrent, device_.context_);
  (void)device_.driver_.cuThreadExchangeStreamCaptureMode(&mode_);
}

CudaDevice::Current::~Current() {
  (void)device_.driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  CUcontext popped = nullptr;
  (void)device_.driver_.cuCtxPopCurrent(&popped);
}

int CountCudaDevices() {
  const CudaDriver& driver = OpenCudaDriver();
  int count = 0;
  driver.Call(driver.cuDeviceGetCount, &count);
  return count;
}

std::shared_ptr<CudaDevice> OpenCudaDevice(int ordinal) {
  static SharedByKey<int, CudaDevice>& devices = *new SharedByKey<int, CudaDevice>;
  std::shared_ptr<CudaDevice> device = devices.Get(ordinal, [ordinal] {
    // The library is opened before the driver, because it is what a user can install.
    const LarqEngineCudaImage& image = OpenCudaImage(CudaImagePath());
    return std::make_shared<CudaDevice>(OpenCudaDriver(), image, ordinal);
  });
  // A forked process inherits the devices in use, which work only in the other process.
  device->driver().CheckProcess();
  return device;
}

}  // namespace larq_engine
