// Makes the host's delegate of an engine.
#ifndef LARQ_ENGINE_RUNTIME_HOST_DELEGATE_H_
#define LARQ_ENGINE_RUNTIME_HOST_DELEGATE_H_

#include <memory>

#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// tflite_plugin_destroy_delegate deletes it.
TfLiteDelegate* MakeDelegate(std::shared_ptr<Engine> engine, EngineOptions options);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_DELEGATE_H_
