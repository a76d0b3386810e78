#include "register_engine.h"

#include <cstdio>
#include <stdexcept>

#include "larq_engine/runtime/larq_engine.h"

void Check(LiteRtStatus status, const std::string& task) {
  if (status == kLiteRtStatusOk) return;
  throw std::runtime_error("LiteRT could not " + task + ": status " + std::to_string(status));
}

namespace {

// LiteRT calls this for every model that it compiles, and destroys the delegate with the model.
LiteRtStatus CreateEngine(LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst,
                          LiteRtOptions, LiteRtDelegateWrapper* wrapper) {
  const char* names[] = {"num_threads"};
  const char* values[] = {"2"};
  TfLiteDelegate* delegate = tflite_plugin_create_delegate(
      names, values, 1, [](const char* message) { std::fprintf(stderr, "%s\n", message); });
  if (delegate == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const auto destroy = [](TfLiteOpaqueDelegate* made) {
    tflite_plugin_destroy_delegate(reinterpret_cast<TfLiteDelegate*>(made));
  };
  return LiteRtWrapDelegate(reinterpret_cast<TfLiteOpaqueDelegate*>(delegate), destroy, wrapper);
}

// The engine as LiteRT's description of an accelerator.
LiteRtAcceleratorDef Engine() {
  LiteRtAcceleratorDef def = {};
  def.get_name = [](LiteRtAcceleratorConst, const char** name) {
    *name = "larq_engine";
    return kLiteRtStatusOk;
  };
  def.get_version = [](LiteRtAcceleratorConst, LiteRtApiVersion* version) {
    *version = {1, 0, 0};
    return kLiteRtStatusOk;
  };
  def.get_hardware_support = [](LiteRtAcceleratorConst, LiteRtHwAcceleratorSet* hardware) {
    *hardware = kLiteRtHwAcceleratorCpu;
    return kLiteRtStatusOk;
  };
  def.is_tflite_delegate_responsible_for_jit_compilation = [](LiteRtAcceleratorConst, bool* jit) {
    *jit = true;
    return kLiteRtStatusOk;
  };
  def.create_delegate = CreateEngine;
  return def;
}

void Register(LiteRtEnvironment environment, const LiteRtAcceleratorDef& def) {
  const std::string task = "register an accelerator";
  LiteRtAccelerator made = nullptr;
  Check(LiteRtCreateAccelerator(&made), task);
  Check(LiteRtSetAcceleratorGetName(made, def.get_name), task);
  Check(LiteRtSetAcceleratorGetVersion(made, def.get_version), task);
  Check(LiteRtSetAcceleratorGetHardwareSupport(made, def.get_hardware_support), task);
  Check(LiteRtSetDelegateFunction(made, def.create_delegate), task);
  Check(LiteRtSetIsAcceleratorDelegateResponsibleForJitCompilation(
            made, def.is_tflite_delegate_responsible_for_jit_compilation),
        task);
  Check(LiteRtRegisterAccelerator(environment, made, nullptr, nullptr), task);
}

}  // namespace

void RegisterEngineAndXnnpack(LiteRtEnvironment environment) {
  Register(environment, Engine());
  Register(environment, *LiteRtStaticLinkedAcceleratorCpuDef);
}
