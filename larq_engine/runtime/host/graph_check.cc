#include "larq_engine/runtime/host/graph_check.h"

#include <stdexcept>
#include <string>

#include "larq_engine/model_file/clauses.h"
#include "larq_engine/runtime/host/host_graph.h"
#include "larq_engine/runtime/host/host_values.h"

namespace larq_engine {
namespace {

FileTensor DescribeFileTensor(const TfLiteTensor& tensor) {
  FileTensor result;
  if (tensor.name != nullptr) result.name = tensor.name;
  result.type = ReadElementType(tensor.type);
  const std::span<const int> dims = AsSpan(tensor.dims);
  result.shape.assign(dims.begin(), dims.end());
  result.is_variable = tensor.is_variable;
  result.is_external = tensor.allocation_type == kTfLiteMmapRo;
  if (tensor.quantization.type == kTfLiteAffineQuantization &&
      tensor.quantization.params != nullptr) {
    const auto& affine = *static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
    FileQuantization quantization;
    if (affine.scale != nullptr) {
      quantization.scales.assign(affine.scale->data, affine.scale->data + affine.scale->size);
    }
    const std::span<const int> zero_points = AsSpan(affine.zero_point);
    quantization.zero_points.assign(zero_points.begin(), zero_points.end());
    quantization.dimension = affine.quantized_dimension;
    result.quantization = std::move(quantization);
  }
  return result;
}

// Describes the graph as if it had been read from a file. Tensors that no node writes count as
// inputs of the graph, because a delegate is not told which tensors the inputs are. Tensors that no
// node uses are left out.
ModelFile DescribeGraph(TfLiteContext* context, std::span<const int> nodes) {
  ModelFile model;
  FileGraph graph;
  graph.tensors.resize(context->tensors_size);
  std::vector<bool> used(context->tensors_size);
  std::vector<bool> written(context->tensors_size);
  for (const int index : nodes) {
    const auto [node, registration] = GetNode(context, index);
    FileOperator op;
    op.code = static_cast<uint32_t>(model.operator_codes.size());
    const std::span<const int> inputs = AsSpan(node->inputs);
    const std::span<const int> outputs = AsSpan(node->outputs);
    op.inputs.assign(inputs.begin(), inputs.end());
    op.outputs.assign(outputs.begin(), outputs.end());
    for (const std::vector<int32_t>* tensors : {&op.inputs, &op.outputs}) {
      for (const int32_t tensor : *tensors) {
        if (tensor < 0 || static_cast<size_t>(tensor) >= used.size()) continue;
        used[static_cast<size_t>(tensor)] = true;
        if (tensors == &op.outputs) written[static_cast<size_t>(tensor)] = true;
      }
    }
    model.operator_codes.push_back(
        {.kind = registration->builtin_code,
         .custom_name = registration->custom_name == nullptr ? "" : registration->custom_name});
    graph.operators.push_back(std::move(op));
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    graph.tensors[i] = DescribeFileTensor(context->tensors[i]);
    if (!written[i] && !graph.tensors[i].is_external) {
      graph.inputs.push_back(static_cast<int32_t>(i));
    }
  }
  model.graphs.push_back(std::move(graph));
  return model;
}

}  // namespace

void CheckGraph(TfLiteContext* context, std::span<const int> nodes) {
  const ModelFile model = DescribeGraph(context, nodes);
  try {
    for (const Clause& clause : Clauses()) {
      if (clause.scope == ClauseScope::kOneGraph) clause.check(model);
    }
  } catch (const FileError& error) {
    throw std::runtime_error(std::string("larq_engine: ") + error.what());
  }
}

}  // namespace larq_engine
