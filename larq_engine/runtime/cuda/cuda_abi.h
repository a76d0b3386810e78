// The part of the CUDA driver's C interface that the engine needs. We declare it ourselves because
// the engine is built without a CUDA toolkit and opens the driver at run time.
//
// Names, types and values belong to the interface and must not change; they are those of CUDA 12.0,
// which every newer driver keeps. tests/runtime/cuda compares them with the official cuda.h if it
// is installed. The types are in our namespace, because a program that is linked with the engine
// may include the official header as well.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_ABI_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_ABI_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// The version whose functions are declared here, and the oldest driver that has them.
inline constexpr int kCudaInterface = 12000;

using CUdevice = int;           // an ordinal, as the driver counts
using CUdeviceptr = uintptr_t;  // an address on the device
using CUcontext = struct CUctx_st*;
using CUevent = struct CUevent_st*;
using CUfunction = struct CUfunc_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUkernel = struct CUkern_st*;
using CUlibrary = struct CUlib_st*;
using CUstream = struct CUstream_st*;

// The enumerations have a fixed underlying type (the one that compilers give the official ones): a
// newer driver may return values that have no name here.
enum CUresult : unsigned {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
  CUDA_ERROR_UNKNOWN = 999,
};

enum CUdevice_attribute : unsigned {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,  // kHz
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,        // kHz
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,  // bits
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUfunction_attribute : unsigned {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum CUpointer_attribute : unsigned {
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,     // a CUmemorytype
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,  // an int
};

enum CUmemorytype : unsigned {
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,
};

enum CUstream_flags : unsigned {
  CU_STREAM_DEFAULT = 0,
  CU_STREAM_NON_BLOCKING = 1,  // does not wait for the legacy stream, which the process shares
};

enum CUevent_flags : unsigned {
  CU_EVENT_DEFAULT = 0,
  CU_EVENT_BLOCKING_SYNC = 1,
  CU_EVENT_DISABLE_TIMING = 2,
};

enum CUevent_record_flags : unsigned {
  CU_EVENT_RECORD_EXTERNAL = 1,  // in a capture: each run of the graph records the event
};

enum CUstreamCaptureMode : unsigned {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

// Describes a matrix to the chip, which copies boxes of it. Official headers before CUDA 13 require
// an alignment to 64 bytes only.
struct alignas(128) CUtensorMap {
  uint64_t opaque[16];
};

enum CUtensorMapDataType : unsigned {
  CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
};

enum CUtensorMapInterleave : unsigned {
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
};

enum CUtensorMapSwizzle : unsigned {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
};

enum CUtensorMapL2promotion : unsigned {
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3,
};

enum CUtensorMapFloatOOBfill : unsigned {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
};

enum CUdriverProcAddressQueryResult : unsigned {
  CU_GET_PROC_ADDRESS_SUCCESS = 0,
  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
};

enum CUlaunchAttributeID : unsigned {
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

union CUlaunchAttributeValue {
  char pad[64];
  int programmaticStreamSerializationAllowed;
};

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned gridDimX;
  unsigned gridDimY;
  unsigned gridDimZ;
  unsigned blockDimX;
  unsigned blockDimY;
  unsigned blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

// A flag of cuMemHostAlloc: the memory is pinned for all contexts. It is a macro in the official
// header.
inline constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1;

// The legacy stream, which the whole process shares: libraries use it unless they are told of
// another. It is a macro in the official header.
inline const CUstream CU_STREAM_LEGACY = reinterpret_cast<CUstream>(1);

// The only function that is looked up by its symbol, cuGetProcAddress_v2. It finds all others, in
// the version of the interface that is asked for, whatever symbols the driver has for them.
using CuGetProcAddress = CUresult(const char* symbol, void** function, int version, uint64_t flags,
                                  CUdriverProcAddressQueryResult* status);

// Has a row for each function: ROW(name, parameters).
#define LARQ_ENGINE_CUDA_FUNCTIONS(ROW)                                                           \
  ROW(cuInit, (unsigned flags))                                                                   \
  ROW(cuDriverGetVersion, (int* version))                                                         \
  ROW(cuGetErrorName, (CUresult result, const char** text))                                       \
  ROW(cuGetErrorString, (CUresult result, const char** text))                                     \
  ROW(cuDeviceGetCount, (int* count))                                                             \
  ROW(cuDeviceGet, (CUdevice * device, int ordinal))                                              \
  ROW(cuDeviceGetName, (char* name, int length, CUdevice device))                                 \
  ROW(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device))          \
  ROW(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                           \
  ROW(cuDevicePrimaryCtxRelease, (CUdevice device))                                               \
  ROW(cuCtxPushCurrent, (CUcontext context))                                                      \
  ROW(cuCtxPopCurrent, (CUcontext * context))                                                     \
  ROW(cuLibraryLoadData,                                                                          \
      (CUlibrary * library, const void* image, unsigned* jit_options, void** jit_values,          \
       unsigned jit_count, unsigned* options, void** values, unsigned count))                     \
  ROW(cuLibraryUnload, (CUlibrary library))                                                       \
  ROW(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char* name))               \
  ROW(cuKernelGetFunction, (CUfunction * function, CUkernel kernel))                              \
  ROW(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))       \
  ROW(cuMemAlloc, (CUdeviceptr * memory, size_t bytes))                                           \
  ROW(cuMemFree, (CUdeviceptr memory))                                                            \
  ROW(cuMemHostAlloc, (void** memory, size_t bytes, unsigned flags))                              \
  ROW(cuMemFreeHost, (void* memory))                                                              \
  ROW(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr memory))    \
  ROW(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream))       \
  ROW(cuMemcpyDtoHAsync, (void* to, CUdeviceptr from, size_t bytes, CUstream stream))             \
  ROW(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))       \
  ROW(cuStreamCreate, (CUstream * stream, unsigned flags))                                        \
  ROW(cuStreamDestroy, (CUstream stream))                                                         \
  ROW(cuStreamSynchronize, (CUstream stream))                                                     \
  ROW(cuStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode))                          \
  ROW(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode))                            \
  ROW(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                     \
  ROW(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags)) \
  ROW(cuGraphDestroy, (CUgraph graph))                                                            \
  ROW(cuGraphExecDestroy, (CUgraphExec exec))                                                     \
  ROW(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                         \
  ROW(cuEventCreate, (CUevent * event, unsigned flags))                                           \
  ROW(cuEventDestroy, (CUevent event))                                                            \
  ROW(cuEventRecord, (CUevent event, CUstream stream))                                            \
  ROW(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags))                   \
  ROW(cuEventSynchronize, (CUevent event))                                                        \
  ROW(cuEventQuery, (CUevent event))                                                              \
  ROW(cuEventElapsedTime, (float* milliseconds, CUevent begin, CUevent end))                      \
  ROW(cuTensorMapEncodeTiled,                                                                     \
      (CUtensorMap * map, CUtensorMapDataType type, uint32_t rank, void* memory,                  \
       const uint64_t* sizes, const uint64_t* pitches, const uint32_t* box, const uint32_t* each, \
       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,                              \
       CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill outside))                        \
  ROW(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,    \
                       unsigned block_x, unsigned block_y, unsigned block_z,                      \
                       unsigned shared_bytes, CUstream stream, void** parameters, void** extra))

// Has a row for each function that a driver may lack; the engine can do without them.
#define LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(ROW) \
  ROW(cuLaunchKernelEx,                          \
      (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra))

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_ABI_H_
