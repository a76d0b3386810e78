// Helpers that clauses share: functions that go over a model, and properties of a tensor or an
// operator.
#ifndef LARQ_ENGINE_MODEL_FILE_WALK_H_
#define LARQ_ENGINE_MODEL_FILE_WALK_H_

#include <span>

#include "larq_engine/model_file/model_file.h"
#include "larq_engine/model_file/refuse.h"

namespace larq_engine {

// Calls check(place, index, tensor) for every tensor of the model.
template <typename Check>
void ForEachTensor(const ModelFile& model, Check check) {
  for (size_t graph = 0; graph < model.graphs.size(); ++graph) {
    const GraphPlace place{.model = model, .graph = graph};
    for (size_t i = 0; i < place.Graph().tensors.size(); ++i) {
      check(place, i, place.Graph().tensors[i]);
    }
  }
}

// Calls check(place, index, operator) for every operator of the model.
template <typename Check>
void ForEachOperator(const ModelFile& model, Check check) {
  for (size_t graph = 0; graph < model.graphs.size(); ++graph) {
    const GraphPlace place{.model = model, .graph = graph};
    for (size_t i = 0; i < place.Graph().operators.size(); ++i) {
      check(place, i, place.Graph().operators[i]);
    }
  }
}

inline std::span<const uint8_t> DataOf(const ModelFile& model, const FileTensor& tensor) {
  return tensor.buffer == 0 ? std::span<const uint8_t>() : model.buffers[tensor.buffer];
}

inline bool IsConstant(const ModelFile& model, const FileTensor& tensor) {
  return tensor.is_external || !DataOf(model, tensor).empty();
}

inline uint64_t ValuesOf(std::span<const int32_t> shape) {
  uint64_t values = 1;
  for (const int32_t size : shape) values *= static_cast<uint64_t>(size);
  return values;
}

// Returns the operator's options, or those of an empty table if the file has none.
inline const FileOptions& OptionsOf(const FileOperator& op) {
  static const FileOptions none;
  return op.builtin.has_value() ? *op.builtin : none;
}

inline int KindOf(const ModelFile& model, const FileOperator& op) {
  return model.operator_codes[op.code].kind;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_WALK_H_
