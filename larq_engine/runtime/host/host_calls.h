// The edge to the host: exceptions end here and become the host's status and error report.
#ifndef LARQ_ENGINE_RUNTIME_HOST_HOST_CALLS_H_
#define LARQ_ENGINE_RUNTIME_HOST_HOST_CALLS_H_

#include <exception>
#include <new>

#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

template <typename Function>
TfLiteStatus ReportingErrors(TfLiteContext* context, Function function) {
  try {
    function();
    return kTfLiteOk;
  } catch (const std::bad_alloc&) {
    context->ReportError(context, "larq_engine: out of memory; feed a smaller input. ");
  } catch (const std::exception& e) {
    // Hosts join reports without a separator.
    context->ReportError(context, "%s. ", e.what());
  }
  return kTfLiteError;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_HOST_CALLS_H_
