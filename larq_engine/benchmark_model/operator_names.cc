#include "larq_engine/benchmark_model/operator_names.h"

#include <string_view>
#include <vector>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/model_file/walk.h"
#include "larq_engine/runtime/ops/layer_name.h"

namespace larq_engine {

OperatorNames NamesOf(const ModelFile& model, const FileGraph& graph, const FileOperator& op) {
  const FileOperatorCode& code = model.operator_codes[op.code];
  const auto tensor = [&](int32_t number) -> const FileTensor& {
    return graph.tensors[static_cast<size_t>(number)];
  };
  std::vector<std::string_view> constants;
  for (const int32_t input : op.inputs) {
    if (input != kAbsentTensor && IsConstant(model, tensor(input))) {
      constants.push_back(tensor(input).name);
    }
  }
  const std::string output = op.outputs.empty() ? "" : tensor(op.outputs[0]).name;
  return {.op = code.kind == builtin::kCustom ? code.custom_name : BuiltinName(code.kind),
          .layer = LayerName(output, constants),
          .tensor = output};
}

}  // namespace larq_engine
