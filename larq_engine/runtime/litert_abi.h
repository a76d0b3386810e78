// The types of LiteRT's C interface that this project needs. We declare them ourselves, so that the
// build needs no LiteRT checkout.
//
// Names, order and types are the interface and must not change. They are those of LiteRT 2.2 and
// 2.3 (litert/c/*.h). LiteRT 2.1 has other signatures under the same names; its accelerator
// definition differs, by which it is recognized (LiteRtAcceleratorDef).
#ifndef LARQ_ENGINE_RUNTIME_LITERT_ABI_H_
#define LARQ_ENGINE_RUNTIME_LITERT_ABI_H_

#include <cstddef>
#include <cstdint>

extern "C" {

// A TfLiteDelegate, as LiteRT calls it.
typedef struct TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegate;

// Opaque handles.
typedef struct LiteRtAcceleratorT* LiteRtAccelerator;
typedef const struct LiteRtAcceleratorT* LiteRtAcceleratorConst;
typedef struct LiteRtCompiledModelT* LiteRtCompiledModel;
typedef struct LiteRtDelegateWrapperT* LiteRtDelegateWrapper;
typedef struct LiteRtEnvironmentT* LiteRtEnvironment;
typedef struct LiteRtModelT* LiteRtModel;
typedef struct LiteRtOpaqueOptionsT* LiteRtOpaqueOptions;
typedef struct LiteRtOptionsT* LiteRtOptions;
typedef struct LiteRtProfilerT* LiteRtProfiler;
typedef struct LiteRtRuntimeContext LiteRtRuntimeContext;
typedef struct LiteRtSignatureT* LiteRtSignature;
typedef struct LiteRtTensorT* LiteRtTensor;
typedef struct LiteRtTensorBufferT* LiteRtTensorBuffer;
typedef struct LiteRtTensorBufferRequirementsT* LiteRtTensorBufferRequirements;

typedef size_t LiteRtParamIndex;
typedef int LiteRtHwAcceleratorSet;

// The enumerations have a fixed underlying type, so that unknown values from a newer library are no
// undefined behaviour.
typedef enum LiteRtStatus : int {
  kLiteRtStatusOk = 0,
  kLiteRtStatusErrorInvalidArgument = 1,
  kLiteRtStatusErrorMemoryAllocationFailure = 2,
  kLiteRtStatusErrorRuntimeFailure = 3,
  kLiteRtStatusErrorUnsupported = 5,
  kLiteRtStatusErrorNotFound = 6,
  kLiteRtStatusErrorInvalidFlatbuffer = 501,
} LiteRtStatus;

enum { kLiteRtHwAcceleratorCpu = 1 };

typedef enum LiteRtTensorBufferLockMode : int {
  kLiteRtTensorBufferLockModeRead = 0,
  kLiteRtTensorBufferLockModeWrite = 1,
} LiteRtTensorBufferLockMode;

// The numbers are TensorFlow Lite's (TfLiteType).
typedef enum LiteRtElementType : int {
  kLiteRtElementTypeFloat32 = 1,
  kLiteRtElementTypeInt32 = 2,
  kLiteRtElementTypeUInt8 = 3,
  kLiteRtElementTypeInt64 = 4,
  kLiteRtElementTypeBool = 6,
  kLiteRtElementTypeInt16 = 7,
  kLiteRtElementTypeInt8 = 9,
  kLiteRtElementTypeFloat16 = 10,
  kLiteRtElementTypeFloat64 = 11,
  kLiteRtElementTypeUInt64 = 13,
  kLiteRtElementTypeUInt32 = 16,
  kLiteRtElementTypeUInt16 = 17,
} LiteRtElementType;

typedef enum LiteRtAnyType : int { kLiteRtAnyTypeInt = 2 } LiteRtAnyType;

typedef struct LiteRtAny {
  LiteRtAnyType type;
  union {
    bool bool_value;
    int64_t int_value;
    double real_value;
    const void* ptr_value;
  };
} LiteRtAny;

typedef enum LiteRtEnvOptionTag : int {
  // The accelerators that the environment registers itself, as a LiteRtHwAcceleratorSet.
  kLiteRtEnvOptionTagAutoRegisterAccelerators = 24,
} LiteRtEnvOptionTag;

typedef struct LiteRtEnvOption {
  LiteRtEnvOptionTag tag;
  LiteRtAny value;
} LiteRtEnvOption;

typedef struct LiteRtApiVersion {
  int major;
  int minor;
  int patch;
} LiteRtApiVersion;

// A dimension below 0 is open.
enum { kLiteRtTensorMaxRank = 8 };
typedef struct LiteRtLayout {
  unsigned int rank : 7;
  unsigned int has_strides : 1;
  int32_t dimensions[kLiteRtTensorMaxRank];
  uint32_t strides[kLiteRtTensorMaxRank];
} LiteRtLayout;

typedef struct LiteRtRankedTensorType {
  LiteRtElementType element_type;
  LiteRtLayout layout;
} LiteRtRankedTensorType;

typedef LiteRtStatus (*LiteRtGetNameFunction)(LiteRtAcceleratorConst accelerator,
                                              const char** name);
typedef LiteRtStatus (*LiteRtGetVersionFunction)(LiteRtAcceleratorConst accelerator,
                                                 LiteRtApiVersion* version);
typedef LiteRtStatus (*LiteRtGetHardwareFunction)(LiteRtAcceleratorConst accelerator,
                                                  LiteRtHwAcceleratorSet* hardware);
typedef LiteRtStatus (*LiteRtIsJitFunction)(LiteRtAcceleratorConst accelerator, bool* is_jit);
typedef LiteRtStatus (*LiteRtCreateDelegateFunction)(LiteRtRuntimeContext* runtime_context,
                                                     LiteRtEnvironment environment,
                                                     LiteRtAcceleratorConst accelerator,
                                                     LiteRtOptions options,
                                                     LiteRtDelegateWrapper* wrapper);

// LiteRT names some values without a prefix, and these names are not declared here; the values are
// TensorFlow Lite's (ProfilerInterface in larq_engine/runtime/tflite_abi.h).
typedef enum LiteRtProfilerEventType : int {
  kLiteRtOperatorInvokeEvent = 2,                  // metadata1 is the node
  kLiteRtDelegateProfiledOperatorInvokeEvent = 8,  // metadata1 is the delegate's own number
} LiteRtProfilerEventType;

typedef enum ProfiledEventSource : int { kLiteRtEventSourceLiteRt = 0 } ProfiledEventSource;

typedef struct LiteRtMemoryUsage {
  size_t total_allocated_bytes;
  size_t in_use_allocated_bytes;
  size_t private_footprint_bytes;
} LiteRtMemoryUsage;

typedef struct ProfiledEventData {
  const char* tag;  // owned by the profiler, until it is reset
  LiteRtProfilerEventType event_type;
  uint64_t start_timestamp_us;  // 0 if a delegate reports the event when it is over
  uint64_t elapsed_time_us;
  LiteRtMemoryUsage begin_mem_usage;
  LiteRtMemoryUsage end_mem_usage;
  uint64_t event_metadata1;
  uint64_t event_metadata2;  // the graph
  ProfiledEventSource event_source;
} ProfiledEventData;

typedef struct LiteRtAbiHeader {
  uint16_t struct_size;
  uint16_t major_version;
  uint16_t minor_version;
  uint16_t reserved;
} LiteRtAbiHeader;

// LiteRtStaticLinkedAcceleratorCpuDef points to this structure, which has further fields behind. In
// LiteRT 2.1 an int, which is always 1, is in place of the header, so major_version reads 0 there
// (all hosts of LiteRT are little-endian).
typedef struct LiteRtAcceleratorDef {
  LiteRtAbiHeader abi_header;
  LiteRtGetNameFunction get_name;
  LiteRtGetVersionFunction get_version;
  LiteRtGetHardwareFunction get_hardware_support;
  LiteRtIsJitFunction is_tflite_delegate_responsible_for_jit_compilation;
  LiteRtCreateDelegateFunction create_delegate;
} LiteRtAcceleratorDef;

}  // extern "C"

#if __SIZEOF_POINTER__ == 8
static_assert(sizeof(LiteRtEnvOption) == 24 && offsetof(LiteRtEnvOption, value) == 8);
static_assert(sizeof(LiteRtRankedTensorType) == 72 && sizeof(LiteRtLayout) == 68);
static_assert(offsetof(LiteRtAcceleratorDef, get_name) == 8);
static_assert(sizeof(ProfiledEventData) == 104);
static_assert(offsetof(ProfiledEventData, elapsed_time_us) == 24);
static_assert(offsetof(ProfiledEventData, event_metadata1) == 80);
#endif

#endif  // LARQ_ENGINE_RUNTIME_LITERT_ABI_H_
