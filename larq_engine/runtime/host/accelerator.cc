// LiteRT's accelerator: the way to us from CompiledModel, which takes no external delegates. LiteRT
// opens a library that it finds by name (libLiteRtGpuAccelerator.so and others, in the folder of
// its runtime) and reads the structure below, which makes the same delegate.
//
// The structures are declared by us, like those of tflite_abi.h, from version 1 of the interface.
// They begin with their size and version, and only grow at their end.
#include <cstddef>
#include <cstdint>
#include <exception>

#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/host/delegate.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

enum Status : int { kOk = 0, kErrorRuntimeFailure = 3, kErrorUnsupportedRuntimeVersion = 6 };

struct AbiHeader {
  uint16_t struct_size;
  uint16_t major_version;
  uint16_t minor_version;
  uint16_t reserved;
};

struct ApiVersion {
  int major;
  int minor;
  int patch;
};

// The functions that LiteRT offers to accelerators, of which we need one.
struct RuntimeContext {
  AbiHeader header;
  void* before[17];
  Status (*wrap_delegate)(TfLiteDelegate* delegate, void (*deleter)(TfLiteDelegate*),
                          void** wrapper);
};

struct AcceleratorDefinition {
  AbiHeader header;
  Status (*get_name)(void* accelerator, const char** name);
  Status (*get_version)(void* accelerator, ApiVersion* version);
  Status (*get_hardware_support)(void* accelerator, int* hardware);
  Status (*compiles_models)(void* accelerator, bool* compiles);
  Status (*create_delegate)(RuntimeContext* context, void* environment, void* accelerator,
                            void* options, void** wrapper);
  void* unused[19];  // destroying (the wrapper does), metrics, buffers of other kinds of memory
};
static_assert(sizeof(void*) != 8 || sizeof(AcceleratorDefinition) == 200);
static_assert(sizeof(void*) != 8 || offsetof(RuntimeContext, wrap_delegate) == 144);

// The accelerator that users must ask for to get one that is not built into LiteRT.
constexpr int kHardwareGpu = 1 << 1;

Status GetName(void*, const char** name) {
  *name = "larq_engine";
  return kOk;
}

Status GetVersion(void*, ApiVersion* version) {
  *version = {1, 0, 0};
  return kOk;
}

Status GetHardwareSupport(void*, int* hardware) {
  *hardware = kHardwareGpu;
  return kOk;
}

Status CompilesModels(void*, bool* compiles) {
  *compiles = true;
  return kOk;
}

Status CreateDelegate(RuntimeContext* context, void*, void*, void*, void** wrapper) {
  if (context == nullptr || context->header.major_version != 1 ||
      context->header.struct_size < sizeof(RuntimeContext)) {
    return kErrorUnsupportedRuntimeVersion;
  }
  try {
    // LiteRT passes no options here. A user who asks for a GPU gets one if there is one.
    const EngineOptions options = ParseEngineOptions(nullptr, nullptr, 0, DeviceOption::kAuto);
    TfLiteDelegate* delegate = MakeDelegate(MakeEngine(options), options);
    const Status status = context->wrap_delegate(delegate, tflite_plugin_destroy_delegate, wrapper);
    if (status != kOk) tflite_plugin_destroy_delegate(delegate);
    return status;
  } catch (const std::exception&) {  // the cause is an environment variable, or a lack of memory
    return kErrorRuntimeFailure;
  }
}

}  // namespace
}  // namespace larq_engine

extern "C" LARQ_ENGINE_EXPORT larq_engine::AcceleratorDefinition LiteRtAcceleratorImpl;
larq_engine::AcceleratorDefinition LiteRtAcceleratorImpl = {
    .header = {.struct_size = sizeof(larq_engine::AcceleratorDefinition),
               .major_version = 1,
               .minor_version = 0,
               .reserved = 0},
    .get_name = larq_engine::GetName,
    .get_version = larq_engine::GetVersion,
    .get_hardware_support = larq_engine::GetHardwareSupport,
    .compiles_models = larq_engine::CompilesModels,
    .create_delegate = larq_engine::CreateDelegate,
    .unused = {},
};
