// The edge to the host: exceptions end here and become the host's status and error report.
#ifndef LARQ_ENGINE_RUNTIME_HOST_HOST_CALLS_H_
#define LARQ_ENGINE_RUNTIME_HOST_HOST_CALLS_H_

#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

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

// Writes the text that `make` returns like snprintf. Writes an empty text and returns 0 if memory
// is short.
template <typename Make>
size_t WriteText(char* text, size_t size, const Make& make) {
  try {
    const std::string made = make();
    if (size > 0) std::snprintf(text, size, "%s", made.c_str());
    return made.size();
  } catch (const std::exception&) {
    if (size > 0) text[0] = 0;
    return 0;
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_HOST_CALLS_H_
