// The functions of LiteRT 2.2 and newer that run_model.cc calls: this project is built without
// LiteRT's headers. Your program includes LiteRT's instead: litert/c/*.h, litert/c/internal/*.h.
#ifndef EXAMPLES_CPP_LITERT_H_
#define EXAMPLES_CPP_LITERT_H_

#include "larq_engine/runtime/litert_abi.h"

// clang-format off: one function in each line, which the rule for libLiteRt.so in BUILD reads.
extern "C" {

LiteRtStatus LiteRtCreateEnvironment(int, const LiteRtEnvOption*, LiteRtEnvironment*);
LiteRtStatus LiteRtCreateAccelerator(LiteRtAccelerator*);
LiteRtStatus LiteRtSetAcceleratorGetName(LiteRtAccelerator, LiteRtGetNameFunction);
LiteRtStatus LiteRtSetAcceleratorGetVersion(LiteRtAccelerator, LiteRtGetVersionFunction);
LiteRtStatus LiteRtSetAcceleratorGetHardwareSupport(LiteRtAccelerator, LiteRtGetHardwareFunction);
LiteRtStatus LiteRtSetDelegateFunction(LiteRtAccelerator, LiteRtCreateDelegateFunction);
LiteRtStatus LiteRtSetIsAcceleratorDelegateResponsibleForJitCompilation(LiteRtAccelerator,
                                                                        LiteRtIsJitFunction);
LiteRtStatus LiteRtRegisterAccelerator(LiteRtEnvironment, LiteRtAccelerator, void*,
                                       void (*)(void*));
LiteRtStatus LiteRtWrapDelegate(TfLiteOpaqueDelegate*, void (*)(TfLiteOpaqueDelegate*),
                                LiteRtDelegateWrapper*);
LiteRtStatus LiteRtCreateModelFromFile(LiteRtEnvironment, const char*, LiteRtModel*);
LiteRtStatus LiteRtGetModelSignature(LiteRtModel, LiteRtParamIndex, LiteRtSignature*);
LiteRtStatus LiteRtGetSignatureInputTensorByIndex(LiteRtSignature, LiteRtParamIndex, LiteRtTensor*);
LiteRtStatus LiteRtGetSignatureOutputTensorByIndex(LiteRtSignature, LiteRtParamIndex,
                                                   LiteRtTensor*);
LiteRtStatus LiteRtGetRankedTensorType(LiteRtTensor, LiteRtRankedTensorType*);
LiteRtStatus LiteRtCreateOptions(LiteRtOptions*);
LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions, LiteRtHwAcceleratorSet);
LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment, LiteRtModel, LiteRtOptions,
                                       LiteRtCompiledModel*);
LiteRtStatus LiteRtGetCompiledModelInputTensorLayout(LiteRtCompiledModel, LiteRtParamIndex,
                                                     LiteRtParamIndex, LiteRtLayout*);
LiteRtStatus LiteRtGetCompiledModelOutputTensorLayouts(LiteRtCompiledModel, LiteRtParamIndex,
                                                       size_t, LiteRtLayout*, bool);
LiteRtStatus LiteRtGetCompiledModelInputBufferRequirements(LiteRtCompiledModel, LiteRtParamIndex,
                                                           LiteRtParamIndex,
                                                           LiteRtTensorBufferRequirements*);
LiteRtStatus LiteRtGetCompiledModelOutputBufferRequirements(LiteRtCompiledModel, LiteRtParamIndex,
                                                            LiteRtParamIndex,
                                                            LiteRtTensorBufferRequirements*);
LiteRtStatus LiteRtCreateManagedTensorBufferFromRequirements(LiteRtEnvironment,
                                                             const LiteRtRankedTensorType*,
                                                             LiteRtTensorBufferRequirements,
                                                             LiteRtTensorBuffer*);
LiteRtStatus LiteRtGetTensorBufferPackedSize(LiteRtTensorBuffer, size_t*);
LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer, void**, LiteRtTensorBufferLockMode);
LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer);
LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel, LiteRtParamIndex, size_t,
                                    LiteRtTensorBuffer*, size_t, LiteRtTensorBuffer*);
void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer);
void LiteRtDestroyCompiledModel(LiteRtCompiledModel);
void LiteRtDestroyOptions(LiteRtOptions);
void LiteRtDestroyModel(LiteRtModel);
void LiteRtDestroyEnvironment(LiteRtEnvironment);

extern const LiteRtAcceleratorDef* LiteRtStaticLinkedAcceleratorCpuDef;  // XNNPACK

}  // extern "C"
// clang-format on

#endif  // EXAMPLES_CPP_LITERT_H_
