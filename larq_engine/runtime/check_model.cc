#include <cstdio>
#include <exception>

#include "larq_engine/model_file/model_check.h"
#include "larq_engine/runtime/larq_engine.h"

extern "C" int larq_engine_check_model(const void* model, size_t size, char* error,
                                       size_t error_size) {
  try {
    larq_engine::CheckModel({static_cast<const uint8_t*>(model), model == nullptr ? 0 : size});
    return 0;
  } catch (const std::exception& e) {
    if (error_size > 0) std::snprintf(error, error_size, "%s", e.what());
    return 1;
  }
}
