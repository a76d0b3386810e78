#include "larq_engine/model_file/model_check.h"
#include "larq_engine/runtime/c_calls.h"
#include "larq_engine/runtime/larq_engine.h"

extern "C" int larq_engine_check_model(const void* model, size_t size, char* error,
                                       size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::CheckModel({static_cast<const uint8_t*>(model), model == nullptr ? 0 : size});
  });
}
