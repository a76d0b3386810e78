#include "larq_engine/runtime/model/model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/model_file/model_check.h"
#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/model/model_placement.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

size_t FindGraph(const ModelFile& file, const std::string& signature) {
  if (signature.empty()) return 0;
  std::string known;
  for (const FileSignature& one : file.signatures) {
    if (one.key == signature) return one.graph;
    known += (known.empty() ? "'" : ", '") + one.key.value_or("") + "'";
  }
  throw std::invalid_argument("larq_engine: expected a signature of the model (" +
                              (known.empty() ? "it has none" : known) + "), got '" + signature +
                              "'");
}

}  // namespace

Model::Memory::Memory(const ModelGraph& graph) {
  for (const TensorInfo& info : graph.tensors()) {
    Tensor& tensor = tensors_.emplace_back();
    tensor.dims = info.dims;
    tensor.element_bytes = ElementBytes(info.type);
    if (info.constant == nullptr) continue;
    // The cast is safe, because constants are only read.
    tensor.data = {static_cast<std::byte*>(const_cast<void*>(info.constant)), info.bytes};
  }
}

void Model::Memory::SetDims(int tensor, std::span<const int> dims) {
  At(tensor).dims.assign(dims.begin(), dims.end());
}

size_t Model::Memory::Bytes(int number) const {
  const Tensor& tensor = At(number);
  return MemoryProduct(static_cast<size_t>(CountElements(tensor.dims, tensor.dims.size())),
                       tensor.element_bytes);
}

void Model::Memory::Resize(int number, const std::vector<int>& dims) {
  Tensor& tensor = At(number);
  tensor.dims = dims;
  tensor.own_bytes = Bytes(number);
  if (tensor.own.data() == nullptr || tensor.own.size() < tensor.own_bytes) {
    tensor.own = {};
    tensor.own = AlignedBuffer<std::byte>(tensor.own_bytes);
  }
}

void Model::Memory::AllocateInputs(std::span<const int> inputs) {
  for (int input : inputs) {
    if (At(input).data.data() == nullptr) Resize(input, std::vector<int>(At(input).dims));
  }
}

std::span<std::byte> Model::Memory::Data(int number) const {
  const Tensor& tensor = At(number);
  if (tensor.data.data() != nullptr) return tensor.data;
  // The buffer belongs to the model, whose memory may be written.
  return {const_cast<std::byte*>(tensor.own.data()), tensor.own_bytes};
}

void Model::Memory::SetData(int tensor, const void* data, size_t bytes) {
  At(tensor).data = {static_cast<std::byte*>(const_cast<void*>(data)), data == nullptr ? 0 : bytes};
}

Model::Model(std::span<const uint8_t> bytes, const std::string& signature,
             const EngineOptions& options, std::shared_ptr<Engine> engine)
    : file_(CheckModel(bytes)),
      graph_number_(FindGraph(file_, signature)),
      most_threads_(std::max(options.num_threads, 1)),
      graph_(file_, graph_number_),
      engine_(engine == nullptr ? MakeEngine(options) : std::move(engine)),
      memory_(graph_),
      plan_(engine_, FindPlacement(file_, graph_number_, options, *engine_),
            static_cast<int>(graph_number_)) {}

void Model::Resize(size_t input, std::span<const int> dims) {
  is_allocated_ = false;
  memory_.SetData(graph_.inputs()[input], nullptr, 0);
  memory_.SetDims(graph_.inputs()[input], dims);
}

void Model::Allocate() {
  is_allocated_ = false;
  memory_.AllocateInputs(graph_.inputs());
  plan_.Prepare([&] { return graph_.MakeProgram(); }, memory_, /*host_threads=*/1);
  is_allocated_ = true;
}

void Model::SetInput(size_t input, const void* data, size_t bytes) {
  const size_t needed = memory_.Bytes(graph_.inputs()[input]);
  if (data != nullptr && bytes != needed) {
    throw OpError("larq_engine: expected " + std::to_string(needed) + " bytes for input " +
                  std::to_string(input) + ", got " + std::to_string(bytes) +
                  "; resize the input first");
  }
  memory_.SetData(graph_.inputs()[input], data, bytes);
  // An input that was given before tensors were allocated has no memory of its own yet.
  if (data == nullptr && is_allocated_) memory_.AllocateInputs(graph_.inputs());
}

void Model::SetNumThreads(int threads) {
  if (threads < 1 || threads > most_threads_) {
    throw OpError("larq_engine: expected 1 to " + std::to_string(most_threads_) +
                  " threads for runs, got " + std::to_string(threads) +
                  "; open the model with the largest number as its option num_threads");
  }
  plan_.LimitThreads(threads);
}

void Model::Run() {
  if (!is_allocated_) {
    throw OpError(
        "larq_engine: expected allocated tensors, got a run before; allocate them after "
        "the model was opened and after each resize");
  }
  plan_.Invoke(memory_, /*profiler=*/nullptr);
}

}  // namespace larq_engine
