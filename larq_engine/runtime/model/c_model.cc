// Implements larq_engine_model.h.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/c_calls.h"
#include "larq_engine/runtime/larq_engine_model.h"
#include "larq_engine/runtime/model/model.h"
#include "larq_engine/runtime/model/model_json.h"
#include "larq_engine/runtime/profile.h"

struct LarqEngineModel {
  larq_engine::AlignedBuffer<uint8_t> content;  // of a file; empty if the caller has the bytes
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
  if (options.count > 0 && (options.keys == nullptr || options.values == nullptr)) {
    throw std::invalid_argument("larq_engine: expected " + std::to_string(options.count) +
                                " options, got none");
  }
  return std::make_unique<Model>(bytes, options.signature == nullptr ? "" : options.signature,
                                 ParseEngineOptions(options.keys, options.values, options.count));
}

// The bytes of a file, in a buffer that may be larger.
struct FileBytes {
  AlignedBuffer<uint8_t> buffer;
  size_t size = 0;
};

// Reads the file to its end. Most are read at once: a vector that grew, and wrote zeros first, took
// 2.2 ms for 4.4 MB in place of 1.2 (Zen 3).
FileBytes ReadAll(FILE* file) {
  constexpr long kLeast = 1 << 20;  // for pipes, which have no size
  constexpr long kMost = 1 << 30;   // larger sizes are those of folders, or nearly
  const long size = std::fseek(file, 0, SEEK_END) == 0 ? std::ftell(file) : 0;
  std::rewind(file);
  const auto expected = static_cast<size_t>(size > kMost ? kLeast : std::max(size, kLeast));
  FileBytes read = {.buffer = AlignedBuffer<uint8_t>(expected + 1)};
  for (;;) {
    const size_t room = read.buffer.size() - read.size;
    const size_t now = std::fread(read.buffer.data() + read.size, 1, room, file);
    read.size += now;
    if (now < room) return read;
    AlignedBuffer<uint8_t> larger(MemoryProduct(read.buffer.size(), 2));
    std::memcpy(larger.data(), read.buffer.data(), read.size);
    read.buffer = std::move(larger);
  }
}

// Reads the file at a path. A mapping of it would be no faster (4.4 MB in 1.1 ms), and another
// process could change what was checked, or end this one by cutting the file short.
FileBytes ReadFile(const char* path) {
  if (path == nullptr) throw std::invalid_argument("expected the path of a model, got none");
  const auto fail = [&] {
    return std::runtime_error(std::string("'") + path + "': expected a file to read, got " +
                              std::strerror(errno));
  };
  const auto close = [](FILE* file) { std::fclose(file); };
  const std::unique_ptr<FILE, decltype(close)> file(std::fopen(path, "rb"), close);
  if (file == nullptr) throw fail();
  FileBytes content = ReadAll(file.get());
  if (std::ferror(file.get()) != 0) throw fail();
  return content;
}

// Returns the bytes of a tensor, or the most that there can be if no memory holds so many:
// functions of C do not throw, and allocating tensors says what is wrong.
size_t BytesOrMost(const Model& model, int tensor) {
  try {
    return model.Bytes(tensor);
  } catch (const std::exception&) {
    return SIZE_MAX;
  }
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
          .bytes = data.data() == nullptr ? BytesOrMost(model, tensor) : data.size(),
          .data = data.data(),
          .is_constant = info.constant != nullptr,
          .scales = info.scales.size(),
          .scale = info.scales.data(),
          .zero_point = info.zero_points.data(),
          .scale_dim = info.scale_axis};
}

LarqEngineTensor Describe(const Model& model, std::span<const int> tensors, size_t index) {
  return index < tensors.size() ? Describe(model, tensors[index]) : LarqEngineTensor();
}

// A caller may pass on a model that could not be opened.
Model& Opened(const LarqEngineModel* model) {
  if (model == nullptr) throw std::invalid_argument("larq_engine: expected a model, got none");
  return *model->model;
}

void CheckInput(const Model& model, size_t input) {
  if (input < model.inputs()) return;
  throw std::invalid_argument("larq_engine: expected one of " + std::to_string(model.inputs()) +
                              " inputs, got number " + std::to_string(input));
}

void CheckDims(const int* dims, int rank) {
  if (dims == nullptr && rank > 0) {
    throw std::invalid_argument("larq_engine: expected dimensions, got none");
  }
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
    larq_engine::FileBytes file = larq_engine::ReadFile(path);
    made->content = std::move(file.buffer);
    made->model =
        larq_engine::Open({made->content.data(), file.size}, {signature, keys, values, count});
    opened = std::move(made);
  });
  return opened.release();
}

void larq_engine_model_close(LarqEngineModel* model) { delete model; }

size_t larq_engine_model_inputs(const LarqEngineModel* model) {
  return model == nullptr ? 0 : model->model->inputs();
}
size_t larq_engine_model_outputs(const LarqEngineModel* model) {
  return model == nullptr ? 0 : model->model->outputs();
}

LarqEngineTensor larq_engine_model_input(const LarqEngineModel* model, size_t index) {
  if (model == nullptr) return {};
  return larq_engine::Describe(*model->model, model->model->graph().inputs(), index);
}

LarqEngineTensor larq_engine_model_output(const LarqEngineModel* model, size_t index) {
  if (model == nullptr) return {};
  return larq_engine::Describe(*model->model, model->model->graph().outputs(), index);
}

int larq_engine_model_resize(LarqEngineModel* model, size_t input, const int* dims, int rank,
                             char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::CheckInput(larq_engine::Opened(model), input);
    larq_engine::CheckDims(dims, rank);
    model->model->Resize(input, {dims, static_cast<size_t>(rank)});
  });
}

int larq_engine_model_allocate(LarqEngineModel* model, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size,
                                      [&] { larq_engine::Opened(model).Allocate(); });
}

int larq_engine_model_set_input(LarqEngineModel* model, size_t input, const void* data,
                                size_t bytes, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::CheckInput(larq_engine::Opened(model), input);
    model->model->SetInput(input, data, bytes);
  });
}

int larq_engine_model_set_num_threads(LarqEngineModel* model, int num_threads, char* error,
                                      size_t error_size) {
  return larq_engine::ReturningErrors(
      error, error_size, [&] { larq_engine::Opened(model).SetNumThreads(num_threads); });
}

int larq_engine_model_run(LarqEngineModel* model, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] { larq_engine::Opened(model).Run(); });
}

LarqEngineTensor larq_engine_model_tensor(const LarqEngineModel* model, int tensor) {
  if (model == nullptr) return {};
  const larq_engine::Model& own = *model->model;
  const bool exists = tensor >= 0 && static_cast<size_t>(tensor) < own.graph().tensors().size();
  if (!exists || own.Data(tensor).data() == nullptr) return {};
  return larq_engine::Describe(own, tensor);
}

size_t larq_engine_model_signatures(const LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(
      json, size, [&] { return larq_engine::SignaturesJson(larq_engine::Opened(model).file()); });
}

size_t larq_engine_model_graph(const LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(json, size,
                                [&] { return larq_engine::GraphJson(larq_engine::Opened(model)); });
}

void larq_engine_model_profile_start(LarqEngineModel* model) {
  if (model != nullptr) model->model->engine().StartProfile();
}

size_t larq_engine_model_profile_read(LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(json, size, [&] {
    return larq_engine::ProfileJson(larq_engine::Opened(model).engine().StopProfile());
  });
}

size_t larq_engine_model_memory_read(LarqEngineModel* model, char* json, size_t size) {
  return larq_engine::WriteText(json, size, [&] {
    return larq_engine::MemoryJson(larq_engine::Opened(model).engine().Memory());
  });
}

int larq_engine_model_set_device_input(LarqEngineModel* model, size_t input, const void* data,
                                       size_t bytes, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::GiveInput(larq_engine::Opened(model), input, data, bytes, /*is_on_device=*/true);
  });
}

int larq_engine_model_set_host_input(LarqEngineModel* model, size_t input, const void* data,
                                     size_t bytes, char* error, size_t error_size) {
  return larq_engine::ReturningErrors(error, error_size, [&] {
    larq_engine::GiveInput(larq_engine::Opened(model), input, data, bytes, /*is_on_device=*/false);
  });
}

}  // extern "C"
