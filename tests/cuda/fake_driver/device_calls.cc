// Calls about devices, contexts, images and memory.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "larq_engine/kernels/cuda/emulated_tma.h"
#include "tests/cuda/fake_driver/state.h"

namespace larq_engine::testing::calls {
namespace {

// Attributes of the device, which are those of an H200.
struct Attribute {
  CUdevice_attribute attribute;
  int value;
};
constexpr Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7FFFFFFF},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
};

// Returns the most bytes of shared memory that a kernel can ask for.
int MaxSharedBytes() {
  switch (TheFakeDriver().compute_capability) {
    case 75:
      return 64 << 10;
    case 80:
      return 163 << 10;
    case 86:
    case 89:
    case 120:
      return 99 << 10;
    default:
      return 227 << 10;
  }
}

struct ErrorText {
  CUresult result;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText& FindError(CUresult result) {
  const auto* found = std::ranges::find(kErrors, result, &ErrorText::result);
  if (found == std::end(kErrors)) throw Refused{CUDA_ERROR_INVALID_VALUE};
  return *found;
}

CUctx_st& ContextOf(CUdevice device) {
  FakeDriverState& state = TheFakeDriver();
  if (device < 0 || device >= state.device_count) throw Refused{CUDA_ERROR_INVALID_DEVICE};
  return state.contexts[static_cast<size_t>(device)];
}

CUcontext CheckedContext(CUcontext context) {
  for (CUctx_st& own : TheFakeDriver().contexts) {
    if (&own == context && own.retained > 0) return context;
  }
  Misused("%p is no context, or is no more", static_cast<void*>(context));
}

}  // namespace

void cuInit(unsigned flags) {
  FakeDriverState& state = TheFakeDriver();
  if (flags != 0) throw Refused{CUDA_ERROR_INVALID_VALUE};
  if (state.device_count == 0) throw Refused{CUDA_ERROR_NO_DEVICE};
  state.process = getpid();
}

void cuDriverGetVersion(int* version) { *version = TheFakeDriver().version; }

void cuGetErrorName(CUresult result, const char** text) {
  *text = nullptr;
  *text = FindError(result).name;
}

void cuGetErrorString(CUresult result, const char** text) {
  *text = nullptr;
  *text = FindError(result).text;
}

void cuDeviceGetCount(int* count) { *count = TheFakeDriver().device_count; }

void cuDeviceGet(CUdevice* device, int ordinal) { *device = ContextOf(ordinal).device; }

void cuDeviceGetName(char* name, int length, CUdevice device) {
  ContextOf(device);
  std::snprintf(name, static_cast<size_t>(length), "Fake H200");
}

void cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  ContextOf(device);
  const int capability = TheFakeDriver().compute_capability;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) {
    *value = capability / 10;
  } else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) {
    *value = capability % 10;
  } else if (attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) {
    *value = MaxSharedBytes();
  } else {
    const auto* found = std::ranges::find(kAttributes, attribute, &Attribute::attribute);
    if (found == std::end(kAttributes)) Misused("it has no attribute %u", attribute);
    *value = found->value;
  }
}

void cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  CUctx_st& own = ContextOf(device);
  ++own.retained;
  *context = &own;
}

void cuDevicePrimaryCtxRelease(CUdevice device) {
  CUctx_st& own = ContextOf(device);
  if (own.retained == 0) throw Refused{CUDA_ERROR_INVALID_CONTEXT};
  // The end of the context waits for all queued work, as in NVIDIA's driver.
  if (--own.retained == 0) TheFakeDriver().RunAll();
}

void cuCtxPushCurrent(CUcontext context) { PushedContexts().push_back(CheckedContext(context)); }

void cuCtxPopCurrent(CUcontext* context) {
  if (PushedContexts().empty()) throw Refused{CUDA_ERROR_INVALID_CONTEXT};
  if (context != nullptr) *context = PushedContexts().back();
  PushedContexts().pop_back();
}

void cuLibraryLoadData(CUlibrary* library, const void* image, unsigned*, void**, unsigned jit_count,
                       unsigned*, void**, unsigned count) {
  FakeDriverState& state = TheFakeDriver();
  state.ForbidDuringCapture();
  if (image == nullptr || jit_count != 0 || count != 0) throw Refused{CUDA_ERROR_INVALID_VALUE};
  const auto* emulated = static_cast<const EmulatedImage*>(image);
  if (std::memcmp(emulated->magic, kOtherChipsMagic, sizeof(emulated->magic)) == 0) {
    throw Refused{CUDA_ERROR_NO_BINARY_FOR_GPU};
  }
  if (std::memcmp(emulated->magic, kEmulatedImageMagic, sizeof(emulated->magic)) != 0) {
    throw Refused{CUDA_ERROR_INVALID_IMAGE};
  }
  CUlib_st made;
  for (size_t i = 0; i < emulated->count; ++i) {
    made.kernels[emulated->kernels[i].name].kernel = &emulated->kernels[i];
  }
  *library = state.libraries.Add(std::move(made));
}

void cuLibraryUnload(CUlibrary library) {
  FakeDriverState& state = TheFakeDriver();
  state.ForbidDuringCapture();
  state.libraries.Remove(library, "library");
}

void cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  CUlib_st& own = TheFakeDriver().libraries.Get(library, "library");
  const auto found = own.kernels.find(name);
  if (found == own.kernels.end()) throw Refused{CUDA_ERROR_NOT_FOUND};
  *kernel = &found->second;
}

void cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const CUcontext context = TheFakeDriver().Current();
  CUkern_st& of = TheFakeDriver().Kernel(kernel);
  std::unique_ptr<CUfunc_st>& own = of.functions[context];
  if (own == nullptr) {
    own = std::make_unique<CUfunc_st>(
        CUfunc_st{.kernel = of.kernel, .context = context, .max_shared_bytes = 48 << 10});
  }
  *function = own.get();
}

void cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    Misused("functions have no attribute %u", attribute);
  }
  if (value < 0 || value > MaxSharedBytes()) throw Refused{CUDA_ERROR_INVALID_VALUE};
  TheFakeDriver().Function(function).max_shared_bytes = static_cast<unsigned>(value);
}

void cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  FakeDriverState& state = TheFakeDriver();
  state.ForbidDuringCapture();
  const CUcontext context = state.Current();
  if (bytes == 0) throw Refused{CUDA_ERROR_INVALID_VALUE};
  const size_t left = state.device_memory - state.memory.device_bytes(context);
  std::byte* made = bytes <= left ? state.memory.Allocate(bytes, true, context) : nullptr;
  if (made == nullptr) throw Refused{CUDA_ERROR_OUT_OF_MEMORY};
  *memory = reinterpret_cast<CUdeviceptr>(made);
}

// Waits for all queued work, as NVIDIA's driver does.
void cuMemFree(CUdeviceptr memory) {
  FakeDriverState& state = TheFakeDriver();
  state.ForbidDuringCapture();
  if (memory == 0) return;
  const void* address = reinterpret_cast<const void*>(memory);
  const MemoryBlock* block = state.memory.Find(address);
  if (block != nullptr && block->context != state.Current()) {
    Misused("memory is freed in the context of another device");
  }
  state.RunAll();
  state.memory.Free(address, true);
}

void cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  FakeDriverState& state = TheFakeDriver();
  state.ForbidDuringCapture();
  const CUcontext context = state.Current();
  if (bytes == 0 || flags > CU_MEMHOSTALLOC_PORTABLE) throw Refused{CUDA_ERROR_INVALID_VALUE};
  *memory = state.memory.Allocate(bytes, false, context);
  if (*memory == nullptr) throw Refused{CUDA_ERROR_OUT_OF_MEMORY};
}

void cuMemFreeHost(void* memory) {
  FakeDriverState& state = TheFakeDriver();
  state.ForbidDuringCapture();
  if (memory == nullptr) return;
  state.FreePinned(memory);
}

void cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr memory) {
  const MemoryBlock* block = TheFakeDriver().memory.Find(reinterpret_cast<const void*>(memory));
  if (block == nullptr) throw Refused{CUDA_ERROR_INVALID_VALUE};
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
      const CUmemorytype type = block->on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      std::memcpy(value, &type, sizeof(type));
      return;
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      std::memcpy(value, &block->context->device, sizeof(int));
      return;
  }
  Misused("memory has no attribute %u", attribute);
}

void cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, uint32_t rank, void* memory,
                            const uint64_t* sizes, const uint64_t* pitches, const uint32_t* box,
                            const uint32_t* each, CUtensorMapInterleave interleave,
                            CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill outside) {
  if (type != CU_TENSOR_MAP_DATA_TYPE_UINT32 || rank != 2 || each[0] != 1 || each[1] != 1 ||
      interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || outside != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    Misused("it makes tensor maps of matrices of words only");
  }
  constexpr uint64_t kWordBytes = sizeof(uint32_t);
  constexpr uint64_t kMostRows = uint64_t{1} << 32;
  constexpr uint32_t kMostOfBox = 256;
  const bool is_swizzled = swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
  // These are the rules of the official documentation.
  const bool is_legal =
      memory != nullptr && reinterpret_cast<uintptr_t>(memory) % 16 == 0 &&
      reinterpret_cast<uintptr_t>(map) % alignof(CUtensorMap) == 0 && sizes[0] > 0 &&
      sizes[0] <= kMostRows && sizes[1] > 0 && sizes[1] <= kMostRows && pitches[0] % 16 == 0 &&
      pitches[0] < uint64_t{1} << 40 && pitches[0] >= sizes[0] * kWordBytes && box[0] > 0 &&
      box[0] <= kMostOfBox && box[1] > 0 && box[1] <= kMostOfBox && box[0] * kWordBytes % 16 == 0 &&
      (!is_swizzled || box[0] * kWordBytes <= 128);
  if (!is_legal) throw Refused{CUDA_ERROR_INVALID_VALUE};
  const cuda::MatrixMap matrix = {.words = static_cast<const uint32_t*>(memory),
                                  .rows = static_cast<int64_t>(sizes[1]),
                                  .row_words = static_cast<int64_t>(sizes[0]),
                                  .pitch_words = static_cast<int64_t>(pitches[0] / kWordBytes),
                                  .box_rows = static_cast<int32_t>(box[1]),
                                  .box_words = static_cast<int32_t>(box[0]),
                                  .is_swizzled = is_swizzled};
  const auto made = std::make_unique<cuda::TensorMap>();
  emulated_gpu::MakeTensorMap(matrix, *made);
  static_assert(sizeof(*map) == sizeof(*made));
  std::memcpy(map->opaque, made->opaque, sizeof(made->opaque));
}

}  // namespace larq_engine::testing::calls
