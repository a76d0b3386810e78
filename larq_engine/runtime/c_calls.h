// The edge to callers in C: exceptions end here and become texts.
#ifndef LARQ_ENGINE_RUNTIME_C_CALLS_H_
#define LARQ_ENGINE_RUNTIME_C_CALLS_H_

#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace larq_engine {

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

// Returns 0, or 1 with the reason, cut to fit, in error[0 .. error_size).
template <typename Function>
int ReturningErrors(char* error, size_t error_size, const Function& function) {
  const auto fail = [&](const char* reason) {
    if (error != nullptr && error_size > 0) std::snprintf(error, error_size, "%s", reason);
    return 1;
  };
  try {
    function();
    return 0;
  } catch (const std::bad_alloc&) {
    return fail("larq_engine: out of memory; feed a smaller input");
  } catch (const std::exception& e) {
    return fail(e.what());
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_C_CALLS_H_
