// The part of the TensorFlow Lite C interface that a delegate needs, declared by us: the plug-in is
// built without a TensorFlow checkout and still runs in every host that speaks this interface.
//
// Names, order and types are the interface and must not change. Layout checked for the runtimes
// from tflite-runtime 2.14 to LiteRT 2.3 (tests/runtime/tflite_layout.golden, made from the
// official headers). Structures only ever grow at their end, so what is declared here is a prefix
// or the whole of what a host has; comments say where a host may have less.
#ifndef LARQ_ENGINE_RUNTIME_TFLITE_ABI_H_
#define LARQ_ENGINE_RUNTIME_TFLITE_ABI_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

// The enumerations have a fixed underlying type (the one that compilers give the official ones):
// values come from files and from newer hosts, and an unknown value must not be undefined
// behaviour.
extern "C" {

typedef enum TfLiteStatus : unsigned {
  kTfLiteOk = 0,
  kTfLiteError = 1,
  kTfLiteDelegateError = 2,
  kTfLiteApplicationError = 3,
} TfLiteStatus;

typedef enum TfLiteType : unsigned {
  kTfLiteNoType = 0,
  kTfLiteFloat32 = 1,
  kTfLiteInt32 = 2,
  kTfLiteUInt8 = 3,
  kTfLiteInt64 = 4,
  kTfLiteString = 5,
  kTfLiteBool = 6,
  kTfLiteInt16 = 7,
  kTfLiteComplex64 = 8,
  kTfLiteInt8 = 9,
  kTfLiteFloat16 = 10,
  kTfLiteFloat64 = 11,
  kTfLiteComplex128 = 12,
  kTfLiteUInt64 = 13,
  kTfLiteResource = 14,
  kTfLiteVariant = 15,
  kTfLiteUInt32 = 16,
  kTfLiteUInt16 = 17,
  kTfLiteInt4 = 18,
} TfLiteType;

// Owners of TfLiteTensor::data. Only kTfLiteMmapRo is constant and present before Prepare.
typedef enum TfLiteAllocationType : unsigned {
  kTfLiteMemNone = 0,
  kTfLiteMmapRo = 1,
  kTfLiteArenaRw = 2,
  kTfLiteArenaRwPersistent = 3,
  kTfLiteDynamic = 4,
  kTfLitePersistentRo = 5,
  kTfLiteCustom = 6,
} TfLiteAllocationType;

typedef enum TfLiteQuantizationType : int {
  kTfLiteNoQuantization = 0,
  kTfLiteAffineQuantization = 1,
} TfLiteQuantizationType;

// A bit mask kept in TfLiteDelegate::flags.
typedef enum TfLiteDelegateFlags : unsigned {
  kTfLiteDelegateFlagsNone = 0,
  kTfLiteDelegateFlagsAllowDynamicTensors = 1,
  kTfLiteDelegateFlagsRequirePropagatedShapes = 2,
  kTfLiteDelegateFlagsPerOperatorProfiling = 4,
} TfLiteDelegateFlags;

typedef enum TfLitePadding : unsigned {
  kTfLitePaddingUnknown = 0,
  kTfLitePaddingSame = 1,
  kTfLitePaddingValid = 2,
} TfLitePadding;

typedef enum TfLiteFusedActivation : unsigned {
  kTfLiteActNone = 0,
  kTfLiteActRelu = 1,
  kTfLiteActReluN1To1 = 2,
  kTfLiteActRelu6 = 3,
} TfLiteFusedActivation;

typedef enum TfLiteFullyConnectedWeightsFormat : unsigned {
  kTfLiteFullyConnectedWeightsFormatDefault = 0,
} TfLiteFullyConnectedWeightsFormat;

// Structures that TfLiteNode::builtin_data points to for those operators. In the host they have
// more fields at their ends.
typedef struct TfLiteAddParams {
  TfLiteFusedActivation activation;
} TfLiteAddParams;

typedef struct TfLiteSubParams {
  TfLiteFusedActivation activation;
} TfLiteSubParams;

typedef struct TfLiteMulParams {
  TfLiteFusedActivation activation;
} TfLiteMulParams;

typedef struct TfLiteConcatenationParams {
  int axis;
  TfLiteFusedActivation activation;
} TfLiteConcatenationParams;

typedef struct TfLitePoolParams {
  TfLitePadding padding;
  int stride_width;
  int stride_height;
  int filter_width;
  int filter_height;
  TfLiteFusedActivation activation;
} TfLitePoolParams;

typedef struct TfLiteConvParams {
  TfLitePadding padding;
  int stride_width;
  int stride_height;
  TfLiteFusedActivation activation;
  int dilation_width_factor;
  int dilation_height_factor;
} TfLiteConvParams;

typedef struct TfLiteDepthwiseConvParams {
  TfLitePadding padding;
  int stride_width;
  int stride_height;
  int depth_multiplier;
  TfLiteFusedActivation activation;
  int dilation_width_factor;
  int dilation_height_factor;
} TfLiteDepthwiseConvParams;

typedef struct TfLiteFullyConnectedParams {
  TfLiteFusedActivation activation;
  TfLiteFullyConnectedWeightsFormat weights_format;
  bool keep_num_dims;
} TfLiteFullyConnectedParams;

typedef struct TfLiteReducerParams {
  bool keep_dims;
} TfLiteReducerParams;

typedef struct TfLiteSoftmaxParams {
  float beta;
} TfLiteSoftmaxParams;

typedef struct TfLiteStridedSliceParams {
  int begin_mask;
  int end_mask;
  int ellipsis_mask;
  int new_axis_mask;
  int shrink_axis_mask;
  bool offset;
} TfLiteStridedSliceParams;

// A tensor index in TfLiteNode::inputs that stands for "not given".
enum { kTfLiteOptionalTensor = -1 };

// Means "this tensor is in no delegate's own buffer".
enum { kTfLiteNullBufferHandle = -1 };
typedef int TfLiteBufferHandle;

struct TfLiteContext;
struct TfLiteDelegate;
struct TfLiteNode;
struct TfLiteRegistration;

// The count and the elements lie in one block of malloc. See IntArrayPtr below.
typedef struct TfLiteIntArray {
  int size;
  int data[];
} TfLiteIntArray;

typedef struct TfLiteFloatArray {
  int size;
  float data[];
} TfLiteFloatArray;

// The older, per-tensor description of a quantized tensor; hosts fill it beside TfLiteQuantization.
// Scale 0 means "not quantized".
typedef struct TfLiteQuantizationParams {
  float scale;
  int32_t zero_point;
} TfLiteQuantizationParams;

// `params` points to a TfLiteAffineQuantization when `type` is kTfLiteAffineQuantization.
typedef struct TfLiteQuantization {
  TfLiteQuantizationType type;
  void* params;
} TfLiteQuantization;

// One scale and zero point, or one per index of dimension `quantized_dimension`.
typedef struct TfLiteAffineQuantization {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  int32_t quantized_dimension;
} TfLiteAffineQuantization;

typedef union TfLitePtrUnion {
  int32_t* i32;
  uint32_t* u32;
  int64_t* i64;
  float* f;
  char* raw;
  const char* raw_const;
  uint8_t* uint8;
  bool* b;
  int8_t* int8;
  void* data;
} TfLitePtrUnion;

typedef struct TfLiteTensor {
  TfLiteType type;
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  TfLiteQuantizationParams params;
  TfLiteAllocationType allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;  // may be null
  TfLiteDelegate* delegate;
  TfLiteBufferHandle buffer_handle;
  bool data_is_stale;
  bool is_variable;
  TfLiteQuantization quantization;
  void* sparsity;
  const TfLiteIntArray* dims_signature;  // as the file declares them, -1 for dynamic; may be null
} TfLiteTensor;

typedef struct TfLiteNode {
  TfLiteIntArray* inputs;
  TfLiteIntArray* outputs;
  TfLiteIntArray* intermediates;
  TfLiteIntArray* temporaries;
  void* user_data;  // result of TfLiteRegistration::init
  void* builtin_data;
  const void* custom_initial_data;  // options of a custom operator, alive as long as the model
  int custom_initial_data_size;
  TfLiteDelegate* delegate;
  bool might_have_side_effect;
} TfLiteNode;

// Passed (as `buffer`) to TfLiteRegistration::init of the kernel that replaces a set of nodes.
typedef struct TfLiteDelegateParams {
  TfLiteDelegate* delegate;
  TfLiteIntArray* nodes_to_replace;
  TfLiteIntArray* input_tensors;  // constants included
  TfLiteIntArray* output_tensors;
} TfLiteDelegateParams;

// The host's side. Function members that our delegate does not use are left untyped. `profiler`
// points to a ProfilerInterface (below), or is null.
typedef struct TfLiteContext {
  size_t tensors_size;
  TfLiteStatus (*GetExecutionPlan)(TfLiteContext* context, TfLiteIntArray** execution_plan);
  TfLiteTensor* tensors;
  void* impl_;
  // Takes ownership of `new_size`, also when it fails.
  TfLiteStatus (*ResizeTensor)(TfLiteContext* context, TfLiteTensor* tensor,
                               TfLiteIntArray* new_size);
  void (*ReportError)(TfLiteContext* context, const char* format, ...);
  TfLiteStatus (*AddTensors)(TfLiteContext* context, int tensors_to_add,
                             int* first_new_tensor_index);
  TfLiteStatus (*GetNodeAndRegistration)(TfLiteContext* context, int node_index, TfLiteNode** node,
                                         TfLiteRegistration** registration);
  // The registration travels by value: see TfLiteRegistration.
  TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(TfLiteContext* context,
                                                        TfLiteRegistration registration,
                                                        const TfLiteIntArray* nodes_to_replace,
                                                        TfLiteDelegate* delegate);
  int recommended_num_threads;
  void (*GetExternalContext)();
  void (*SetExternalContext)();
  bool allow_fp32_relax_to_fp16;
  void* profiler;
  void (*AllocatePersistentBuffer)();
  void (*AllocateBufferForEval)();
  void (*RequestScratchBufferInArena)();
  void (*GetScratchBuffer)();
  void (*ResizeTensorExplicit)();
  void (*PreviewDelegatePartitioning)();
  void (*GetTensor)();
  void (*GetEvalTensor)();
  // Finds what the model's file says under a name. The text lives as long as the model, and has no
  // 0 at its end.
  TfLiteStatus (*GetModelMetadata)(const TfLiteContext* context, const char* name, const char** ptr,
                                   size_t* bytes);
  // Gives another graph of the model, as delegates see it, until it is released. Only while a
  // delegate is prepared.
  TfLiteStatus (*AcquireSubgraphContext)(TfLiteContext* context, int subgraph_index,
                                         TfLiteContext** acquired_context);
  TfLiteStatus (*ReleaseSubgraphContext)(TfLiteContext* context, int subgraph_index);
} TfLiteContext;

// An operator's implementation. The last members came later (registration_external, async_kernel,
// inplace_operator): give them zeros, and never read one from a registration that the host
// returned. A host that knows fewer of them reads a prefix of what we pass; passing by value is
// safe because x86-64 and aarch64 both pass a structure of this size in memory. A host that knows
// more would read past ours: compare its header first (tests/runtime/dump_official_layout.sh).
typedef struct TfLiteRegistration {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* user_data);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;  // see model_file/builtin.h
  const char* custom_name;
  int version;
  void* registration_external;
  void (*async_kernel)();
  uint64_t inplace_operator;
} TfLiteRegistration;

typedef struct TfLiteDelegate {
  void* data_;
  TfLiteStatus (*Prepare)(TfLiteContext* context, TfLiteDelegate* delegate);
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate,
                                       TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);
  TfLiteStatus (*CopyToBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate,
                                     TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);
  void (*FreeBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate,
                           TfLiteBufferHandle* handle);
  int64_t flags;
  void* opaque_delegate_builder;
} TfLiteDelegate;

}  // extern "C"

namespace larq_engine {

// The virtual functions of tflite::Profiler in their order (the order is the interface). The host
// implements it; we call BeginEvent and EndEvent.
class ProfilerInterface {
 public:
  enum class EventType : int {
    DEFAULT = 1,
    OPERATOR_INVOKE_EVENT = 2,
    DELEGATE_OPERATOR_INVOKE_EVENT = 4,           // listed apart, as inner events of the delegate
    DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT = 8,  // listed like the host's own operators
  };

  virtual ~ProfilerInterface() = default;
  // Returns a handle for EndEvent. `tag` must live as long as the profiler.
  virtual uint32_t BeginEvent(const char* tag, EventType type, int64_t node, int64_t subgraph) = 0;
  virtual void EndEvent(uint32_t handle, int64_t metadata1, int64_t metadata2) = 0;
  virtual void EndEvent(uint32_t handle) = 0;
  virtual void AddEvent(const char* tag, EventType type, uint64_t metric, int64_t metadata1,
                        int64_t metadata2) = 0;
  virtual void AddEventWithData(const char* tag, EventType type, const void* data) = 0;
};

// TfLite's arrays come from malloc and go back by free, on whichever side of the interface that
// happens: ResizeTensor frees an array that we made.
struct FreeDeleter {
  void operator()(void* array) const { std::free(array); }
};
using IntArrayPtr = std::unique_ptr<TfLiteIntArray, FreeDeleter>;

// Returns null when memory is short.
inline IntArrayPtr MakeIntArray(std::span<const int> values) {
  IntArrayPtr array(
      static_cast<TfLiteIntArray*>(std::malloc(sizeof(TfLiteIntArray) + values.size_bytes())));
  if (array == nullptr) return array;
  array->size = static_cast<int>(values.size());
  if (!values.empty()) std::memcpy(array->data, values.data(), values.size_bytes());
  return array;
}

// A null array has no elements.
inline std::span<const int> AsSpan(const TfLiteIntArray* array) {
  if (array == nullptr) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_TFLITE_ABI_H_
