#include "larq_engine/runtime/model/model_json.h"

#include <cmath>
#include <cstdio>
#include <span>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/runtime/json_string.h"

namespace larq_engine {
namespace {

// Joins what `write` makes of each item.
template <typename Items, typename Write>
std::string Join(const Items& items, const Write& write) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + write(item);
  return text;
}

template <typename Number>
std::string Numbers(std::span<const Number> numbers) {
  return "[" + Join(numbers, [](Number number) { return std::to_string(number); }) + "]";
}

// Nine digits tell any two floats apart. JSON has no number that is not finite.
std::string Float(float value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
  return text;
}

std::string NamesJson(std::span<const FileName> names) {
  return "{" +
         Join(names,
              [](const FileName& name) {
                return JsonString(name.text.value_or("")) + ":" + std::to_string(name.index);
              }) +
         "}";
}

std::string TensorJson(const TensorInfo& tensor, std::span<const int> dims) {
  return "{\"name\":" + JsonString(tensor.name) + ",\"type\":" + JsonString(TypeName(tensor.type)) +
         ",\"shape\":" + Numbers<int>(dims) + ",\"signature\":" + Numbers<int>(tensor.signature) +
         ",\"scales\":[" + Join(tensor.scales, Float) +
         "],\"zero_points\":" + Numbers<int>(tensor.zero_points) +
         ",\"scale_axis\":" + std::to_string(tensor.scale_axis) + "}";
}

}  // namespace

std::string SignaturesJson(const ModelFile& file) {
  return "{\"signatures\":{" +
         Join(file.signatures,
              [](const FileSignature& signature) {
                return JsonString(signature.key.value_or("")) +
                       ":{\"graph\":" + std::to_string(signature.graph) +
                       ",\"inputs\":" + NamesJson(signature.inputs) +
                       ",\"outputs\":" + NamesJson(signature.outputs) + "}";
              }) +
         "}}";
}

std::string GraphJson(const Model& model) {
  const FileGraph& graph = model.file().graphs[model.graph_number()];
  int number = 0;
  const std::string tensors = Join(model.graph().tensors(), [&](const TensorInfo& tensor) {
    return TensorJson(tensor, model.Dims(number++));
  });
  const std::string operators = Join(graph.operators, [&](const FileOperator& op) {
    const FileOperatorCode& code = model.file().operator_codes[op.code];
    const std::string name =
        code.kind == builtin::kCustom ? code.custom_name : BuiltinName(code.kind);
    return "{\"name\":" + JsonString(name) + ",\"inputs\":" + Numbers<int32_t>(op.inputs) +
           ",\"outputs\":" + Numbers<int32_t>(op.outputs) + "}";
  });
  return "{\"tensors\":[" + tensors + "],\"operators\":[" + operators + "]}";
}

}  // namespace larq_engine
