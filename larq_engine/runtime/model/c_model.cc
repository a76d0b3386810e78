// Implements larq_engine_model.h.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "larq_engine/runtime/c_calls.h"
#include "larq_engine/runtime/larq_engine_model.h"
#include "larq_engine/runtime/model/model.h"
#include "larq_engine/runtime/model/model_json.h"
#include "larq_engine/runtime/profile.h"

struct LarqEngineModel {
  std::vector<uint8_t> content;  // of a file; empty if the caller has the bytes
  std::unique_ptr<larq_engine::Model> model;
};

namespace larq_engine {
namespace {

struct OpenOptions {
  const char* signature;
  const char* const* keys;
  const char* const* values;
  size_t count;
};

std::unique_ptr<Model> Open(std::span<const uint8_t> bytes, const OpenOptions& options) {
  return std::make_unique<Model>(bytes, options.signature == nullptr ? "" : options.signature,
                                 ParseEngineOptions(options.keys, options.values, options.count));
}

std::vector<uint8_t> ReadFile(const char* path) {
  const auto fail = [&] {
    return std::runtime_error(std::string("'") + path + "': expected a file to read, got " +
                              std::strerror(errno));
  };
  const auto close = [](FILE* file) { std::fclose(file); };
  const std::unique_ptr<FILE, decltype(close)> file(std::fopen(path, "rb"), close);
  if (file == nullptr) throw fail();
  std::vector<uint8_t> content;
  constexpr size_t kStep = size_t{1} << 20;
  for (size_t read = kStep; read == kStep;) {
    const size_t size = content.size();
    content.resize(size + kStep);
    read = std::fread(content.data() + size, 1, kStep, file.get());
    content.resize(size + read);
  }
  if (std::ferror(file.get()) != 0) throw fail();
  return content;
}

LarqEngineTensor Describe(const Model& model, int tensor) {
  const TensorInfo& info = model.graph().tensors()[static_cast<size_t>(tensor)];
  const std::vector<int>& dims = model.Dims(tensor);
  const std::span<std::byte> data = model.Data(tensor);
  return {.name = info.name.c_str(),
          .tensor = tensor,
          .type = static_cast<int>(info.type),
          .rank = static_cast<int>(dims.size()),
          .dims = dims.data(),
          .open_dims = info.signature.size() == dims.size() ? info.signature.data() : nullptr,
          .bytes = data.size(),
          .data = data.data(),
          .scales = info.scales.size(),
          .scale = info.scales.data(),
          .zero_point = info.zero_points.data(),
          .scale_dim = info.scale_axis};
}

LarqEngineTensor Describe(const Model& model, std::span<const int> tensors, size_t index) {
  return index < tensors.size() ? Describe(model, tensors[index]) : LarqEngineTensor();
}

void CheckInput(const Model& model, size_t input) {
  if (input < model.inputs()) return;
  throw std::invalid_argument("larq_engine: expected one of " + std::to_string(model.inputs()) +
                              " inputs, got number " + std::to_string(input));
}

void CheckDims(const int* dims, int rank) {
  if (rank >= 0 && std::all_of(dims, dims + rank, [](int dim) { return dim >= 0; })) return;
  throw std::invalid_argument(
      "larq_engine: expected dimensions of at least 0, got " +
      (rank < 0 ? "rank " + std::to_string(rank) : DimsString({dims, dims + rank})));
}

void GiveInput(Model& model, size_t input, const void* data, size_t bytes, bool is_on_device) {
  CheckInput(model, input);
  model.engine().GiveInput(model.graph().inputs()[input],
                           {static_cast<const std::byte*>(data), bytes, is_on_device});
}

}  // namespace
}  // namespace larq_engine

extern "C" {

LarqEngineModel* larq_engine_model_open(const void* model, size_t size, const char* signature,
                                        const char* const* keys, const char* const* values,
                                        size_t count, char* error, size_t error_size) {
  auto opened = std::unique_ptr<LarqEngineModel>();
  larq_engine::ReturningErrors(error, error_size, [&] {
    auto made = std::make_unique<LarqEngineModel>();
    made->model =
        larq_engine::Open({static_cast<const uint8_t*>(model), model == nullptr ? 0 : size},
                          {signature, keys, values, count});
    opened = std::move(made);
  });
  return opened.release();
}

LarqEngineModel* larq_engine_model_open_file(const char* path, const char* signature,
                                             const char* const* keys, const char* const* values,
                                             size_t count, char* error, size_t error_size) {
  auto opened = std::unique_ptr<LarqEngineModel>();
  larq_engine::ReturningErrors(error, error_size, [&] {
    auto made = std::make_unique<LarqEngineModel>();
    made->content = larq_engine::ReadFile(path);
    made->model = larq_engine::Open(made->content, {signature, keys, values, count});
    opened = std::move(made);
  });
  return opened.release();
}

void larq_engine_model_close(LarqEngineModel* model) { delete model; }

size_t larq_engine_model_inputs(const LarqEngineModel* model) { return model->model->inputs(); }
size_t larq_engine_model_outputs(const LarqEngineModel* model) { return model->model->outputs(); }

LarqEngineTensor larq_engine_model_input(const LarqEngineModel* model, size_t index) {
  return larq_engine::Describe(*model->model, model->model->graph().inputs(), index);
}

LarqEngineTensor larq_engine_model_output(const LarqEngineModel* model, size_t index) {
  return larq_engine::Describe(*model->model, model->model->graph().outputs(), index);
}

int larq_engine_model_resize(LarqEngineModel* model, size_t input, const int* dims, int rank,
                             char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::CheckInput(*model->model, input);
    larq_engine::CheckDims(dims, rank);
    model->model->Resize(input, {dims, static_cast<size_t>(rank)});
  });
}

int larq_engine_model_allocate(LarqEngineModel* model, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] { model->model->Allocate(); });
}

int larq_engine_model_set_input(LarqEngineModel* model, size_t input, const void* data,
                                size_t bytes, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::CheckInput(*model->model, input);
    model->model->SetInput(input, data, bytes);
  });
}

int larq_engine_model_run(LarqEngineModel* model, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] { model->model->Run(); });
}

LarqEngineTensor larq_engine_model_tensor(const LarqEngineModel* model, int tensor) {
  const larq_engine::Model& own = *model->model;
  const bool exists = tensor >= 0 && static_cast<size_t>(tensor) < own.graph().tensors().size();
  if (!exists || own.Data(tensor).data() == nullptr) return {};
  return larq_engine::Describe(own, tensor);
}

size_t larq_engine_model_signatures(const LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(json, size,
                                [&] { return larq_engine::SignaturesJson(model->model->file()); });
}

size_t larq_engine_model_graph(const LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(json, size, [&] { return larq_engine::GraphJson(*model->model); });
}

void larq_engine_model_profile_start(LarqEngineModel* model) {
  model->model->engine().StartProfile();
}

size_t larq_engine_model_profile_read(LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(
      json, size, [&] { return larq_engine::ProfileJson(model->model->engine().StopProfile()); });
}

size_t larq_engine_model_memory_read(LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(
      json, size, [&] { return larq_engine::MemoryJson(model->model->engine().Memory()); });
}

int larq_engine_model_set_device_input(LarqEngineModel* model, size_t input, const void* data,
                                       size_t bytes, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::GiveInput(*model->model, input, data, bytes, /*is_on_device=*/true);
  });
}

int larq_engine_model_set_host_input(LarqEngineModel* model, size_t input, const void* data,
                                     size_t bytes, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::GiveInput(*model->model, input, data, bytes, /*is_on_device=*/false);
  });
}

}  // extern "C"
