#include "larq_engine/benchmark_model/engine_model.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/model_file/flatbuffer.h"
#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// The engine's inputs and outputs are of these types only.
LiteRtElementType TypeOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return kLiteRtElementTypeFloat32;
    case ElementType::kFloat16:
      return kLiteRtElementTypeFloat16;
    case ElementType::kFloat64:
      return kLiteRtElementTypeFloat64;
    case ElementType::kBool:
      return kLiteRtElementTypeBool;
    case ElementType::kInt8:
      return kLiteRtElementTypeInt8;
    case ElementType::kInt16:
      return kLiteRtElementTypeInt16;
    case ElementType::kInt32:
      return kLiteRtElementTypeInt32;
    case ElementType::kInt64:
      return kLiteRtElementTypeInt64;
    case ElementType::kUint8:
      return kLiteRtElementTypeUInt8;
    case ElementType::kUint16:
      return kLiteRtElementTypeUInt16;
    case ElementType::kUint32:
      return kLiteRtElementTypeUInt32;
    case ElementType::kUint64:
      return kLiteRtElementTypeUInt64;
    default:
      throw ModelError(std::string("expected inputs and outputs of numbers or bool, got ") +
                       TypeName(type));
  }
}

// Calls the function, which prepares a model.
template <typename Function>
void Preparing(const Function& function) {
  try {
    function();
  } catch (const FileError& error) {
    throw ModelError(error.what());
  } catch (const OpError& error) {
    throw NotComputedError(error.what());
  } catch (const std::invalid_argument& error) {  // a placement on a host
    throw NotComputedError(error.what());
  } catch (const std::bad_alloc&) {
    throw ModelError("expected memory for the model's tensors, got too little");
  }
}

}  // namespace

EngineModel::EngineModel(const Flags& flags) {
  const OptionTexts texts(flags);
  try {
    options_ = ParseEngineOptions(texts.kKeys.data(), texts.values.data(), texts.values.size());
    engine_ = MakeEngine(options_);
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

void EngineModel::Load(std::span<const uint8_t> file) {
  Preparing([&] {
    model_ = std::make_unique<Model>(file, "", options_, engine_);
    const std::vector<FileSignature>& signatures = model_->file().signatures;
    if (signatures.empty() || signatures[0].graph == 0 || !signatures[0].key) return;
    const std::string first = *signatures[0].key;
    model_ = std::make_unique<Model>(file, first, options_, engine_);
  });
}

void EngineModel::Compile() {
  Preparing([&] {
    inputs_ = Describe(model_->graph().inputs(), &FileSignature::inputs);
    CheckMemory();
    model_->Allocate();
    outputs_ = Describe(model_->graph().outputs(), &FileSignature::outputs);
    CheckMemory();
  });
}

std::vector<ModelTensor> EngineModel::Describe(
    std::span<const int> tensors, const std::vector<FileName> FileSignature::*names) const {
  const std::vector<FileSignature>& signatures = model_->file().signatures;
  const auto signature =
      std::ranges::find(signatures, model_->graph_number(), &FileSignature::graph);
  std::vector<ModelTensor> described;
  for (const int tensor : tensors) {
    const TensorInfo& info = model_->graph().tensors()[static_cast<size_t>(tensor)];
    const std::vector<int>& dims = model_->Dims(tensor);
    described.push_back({.name = info.name,
                         .type = TypeOf(info.type),
                         .dims = {dims.begin(), dims.end()},
                         .bytes = model_->Bytes(tensor)});
    if (signature == signatures.end()) continue;
    for (const FileName& name : (*signature).*names) {
      if (name.index == static_cast<uint32_t>(tensor)) {
        described.back().name = name.text.value_or("");
      }
    }
  }
  MakeNamesUnique(described);
  return described;
}

void EngineModel::SetInput(size_t input, std::span<const uint8_t> data) {
  std::memcpy(model_->Data(model_->graph().inputs()[input]).data(), data.data(), data.size());
}

void EngineModel::Run() {
  try {
    model_->Run();
  } catch (const OpError& error) {
    throw ModelError(error.what());
  }
}

std::vector<uint8_t> EngineModel::Output(size_t output) {
  const std::span<const std::byte> data = model_->Data(model_->graph().outputs()[output]);
  std::vector<uint8_t> copy(data.size());
  if (!copy.empty()) std::memcpy(copy.data(), data.data(), copy.size());
  return copy;
}

}  // namespace larq_engine
