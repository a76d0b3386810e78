// libLiteRt.so, which is opened at run time.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_LITERT_LIBRARY_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_LITERT_LIBRARY_H_

#include <string>

#include "larq_engine/runtime/litert_abi.h"

namespace larq_engine {

// The functions that we use, by their names without "LiteRt".
struct LiteRtLibrary {
  std::string path;  // the dynamic loader's path of it
  const LiteRtAcceleratorDef* xnnpack;

#define LARQ_ENGINE_LITERT_FUNCTIONS(F)                                                            \
  F(CreateEnvironment, (int, const LiteRtEnvOption*, LiteRtEnvironment*))                          \
  F(GetNumAccelerators, (LiteRtEnvironment, LiteRtParamIndex*))                                    \
  F(CreateAccelerator, (LiteRtAccelerator*))                                                       \
  F(SetAcceleratorGetName, (LiteRtAccelerator, LiteRtGetNameFunction))                             \
  F(SetAcceleratorGetVersion, (LiteRtAccelerator, LiteRtGetVersionFunction))                       \
  F(SetAcceleratorGetHardwareSupport, (LiteRtAccelerator, LiteRtGetHardwareFunction))              \
  F(SetDelegateFunction, (LiteRtAccelerator, LiteRtCreateDelegateFunction))                        \
  F(SetIsAcceleratorDelegateResponsibleForJitCompilation,                                          \
    (LiteRtAccelerator, LiteRtIsJitFunction))                                                      \
  F(RegisterAccelerator, (LiteRtEnvironment, LiteRtAccelerator, void*, void (*)(void*)))           \
  F(WrapDelegate,                                                                                  \
    (TfLiteOpaqueDelegate*, void (*)(TfLiteOpaqueDelegate*), LiteRtDelegateWrapper*))              \
  F(CreateModelFromBuffer, (LiteRtEnvironment, const void*, size_t, LiteRtModel*))                 \
  F(GetModelSignature, (LiteRtModel, LiteRtParamIndex, LiteRtSignature*))                          \
  F(GetNumSignatureInputs, (LiteRtSignature, LiteRtParamIndex*))                                   \
  F(GetSignatureInputName, (LiteRtSignature, LiteRtParamIndex, const char**))                      \
  F(GetSignatureInputTensorByIndex, (LiteRtSignature, LiteRtParamIndex, LiteRtTensor*))            \
  F(GetNumSignatureOutputs, (LiteRtSignature, LiteRtParamIndex*))                                  \
  F(GetSignatureOutputName, (LiteRtSignature, LiteRtParamIndex, const char**))                     \
  F(GetSignatureOutputTensorByIndex, (LiteRtSignature, LiteRtParamIndex, LiteRtTensor*))           \
  F(GetRankedTensorType, (LiteRtTensor, LiteRtRankedTensorType*))                                  \
  F(CreateOptions, (LiteRtOptions*))                                                               \
  F(SetOptionsHardwareAccelerators, (LiteRtOptions, LiteRtHwAcceleratorSet))                       \
  F(CreateOpaqueOptions, (const char*, void*, void (*)(void*), LiteRtOpaqueOptions*))              \
  F(AddOpaqueOptions, (LiteRtOptions, LiteRtOpaqueOptions))                                        \
  F(CreateCompiledModel, (LiteRtEnvironment, LiteRtModel, LiteRtOptions, LiteRtCompiledModel*))    \
  F(GetCompiledModelInputTensorLayout,                                                             \
    (LiteRtCompiledModel, LiteRtParamIndex, LiteRtParamIndex, LiteRtLayout*))                      \
  F(GetCompiledModelOutputTensorLayouts,                                                           \
    (LiteRtCompiledModel, LiteRtParamIndex, size_t, LiteRtLayout*, bool))                          \
  F(GetCompiledModelInputBufferRequirements,                                                       \
    (LiteRtCompiledModel, LiteRtParamIndex, LiteRtParamIndex, LiteRtTensorBufferRequirements*))    \
  F(GetCompiledModelOutputBufferRequirements,                                                      \
    (LiteRtCompiledModel, LiteRtParamIndex, LiteRtParamIndex, LiteRtTensorBufferRequirements*))    \
  F(CreateManagedTensorBufferFromRequirements,                                                     \
    (LiteRtEnvironment, const LiteRtRankedTensorType*, LiteRtTensorBufferRequirements,             \
     LiteRtTensorBuffer*))                                                                         \
  F(GetTensorBufferSize, (LiteRtTensorBuffer, size_t*))                                            \
  F(LockTensorBuffer, (LiteRtTensorBuffer, void**, LiteRtTensorBufferLockMode))                    \
  F(UnlockTensorBuffer, (LiteRtTensorBuffer))                                                      \
  F(RunCompiledModel, (LiteRtCompiledModel, LiteRtParamIndex, size_t, LiteRtTensorBuffer*, size_t, \
                       LiteRtTensorBuffer*))
#define LARQ_ENGINE_LITERT_MEMBER(name, arguments) LiteRtStatus(*name) arguments;
  LARQ_ENGINE_LITERT_FUNCTIONS(LARQ_ENGINE_LITERT_MEMBER)
  // LiteRT's profiler. All of these are null if the library has none.
#define LARQ_ENGINE_LITERT_PROFILER_FUNCTIONS(F)                      \
  F(CompiledModelGetProfiler, (LiteRtCompiledModel, LiteRtProfiler*)) \
  F(StartProfiler, (LiteRtProfiler))                                  \
  F(StopProfiler, (LiteRtProfiler))                                   \
  F(GetNumProfilerEvents, (LiteRtProfiler, int*))                     \
  F(GetProfilerEvents, (LiteRtProfiler, int, ProfiledEventData*))
  LARQ_ENGINE_LITERT_PROFILER_FUNCTIONS(LARQ_ENGINE_LITERT_MEMBER)
#undef LARQ_ENGINE_LITERT_MEMBER

  void (*DestroyTensorBuffer)(LiteRtTensorBuffer);
  void (*DestroyCompiledModel)(LiteRtCompiledModel);
  void (*DestroyOptions)(LiteRtOptions);
  void (*DestroyModel)(LiteRtModel);
  void (*DestroyEnvironment)(LiteRtEnvironment);
};

// Opens the library. With an empty path, it is libLiteRt.so beside this program, or wherever the
// dynamic loader finds it. The library stays open, because it may have threads. Throws
// NoLiteRtError if there is none, RunError if it is too old.
LiteRtLibrary OpenLiteRt(const std::string& path);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_LITERT_LIBRARY_H_
