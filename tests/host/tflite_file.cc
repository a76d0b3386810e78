#include "tests/host/tflite_file.h"

#include <fstream>
#include <iterator>

namespace larq_engine::testing {
namespace {

// Types by the file's numbers, which differ from those of the C interface.
constexpr TfLiteType kElementTypes[] = {
    kTfLiteFloat32, kTfLiteFloat16,    kTfLiteInt32,  kTfLiteUInt8,     kTfLiteInt64,
    kTfLiteString,  kTfLiteBool,       kTfLiteInt16,  kTfLiteComplex64, kTfLiteInt8,
    kTfLiteFloat64, kTfLiteComplex128, kTfLiteUInt64, kTfLiteResource,  kTfLiteVariant,
    kTfLiteUInt32,  kTfLiteUInt16,     kTfLiteInt4,
};

GraphTensor MakeTensor(const ModelFile& model, const FileTensor& tensor) {
  const auto type = static_cast<size_t>(tensor.type);
  if (type >= std::size(kElementTypes)) {
    throw FileError("tensor '" + tensor.name + "' has the unknown type " + std::to_string(type));
  }
  GraphTensor result;
  result.name = tensor.name;
  result.type = kElementTypes[type];
  result.shape = tensor.shape;
  result.shape_signature = tensor.signature;
  if (tensor.buffer != 0) {
    const std::span<const uint8_t> data = model.buffers.at(tensor.buffer);
    result.is_constant = !data.empty();
    result.data.assign(data.begin(), data.end());
  }
  if (tensor.quantization.has_value()) {
    result.is_quantized = !tensor.quantization->scales.empty();
    result.scales = tensor.quantization->scales;
    result.zero_points.assign(tensor.quantization->zero_points.begin(),
                              tensor.quantization->zero_points.end());
    result.quantized_dimension = tensor.quantization->dimension;
  }
  return result;
}

GraphOperator MakeOperator(const ModelFile& model, const FileOperator& op) {
  const FileOperatorCode& code = model.operator_codes.at(op.code);
  return {.builtin_code = code.kind,
          .custom_name = code.custom_name,
          .version = code.version,
          .inputs = op.inputs,
          .outputs = op.outputs,
          .options = {op.options.begin(), op.options.end()}};
}

}  // namespace

Graph ReadTfliteFile(std::span<const uint8_t> bytes) {
  Flatbuffer file(bytes);
  const ModelFile model = ReadModelFile(file);
  const FileGraph& main = model.graphs.at(0);
  Graph graph;
  // Limits what is copied: several tensors may share one buffer, so a small file could ask for
  // endless copies of it.
  size_t copied = 0;
  for (const FileTensor& tensor : main.tensors) {
    graph.tensors.push_back(MakeTensor(model, tensor));
    copied += graph.tensors.back().data.size();
    if (copied > 2 * bytes.size()) throw FileError("tensors share constant data excessively");
  }
  for (const FileOperator& op : main.operators) graph.operators.push_back(MakeOperator(model, op));
  graph.inputs = main.inputs;
  graph.outputs = main.outputs;
  return graph;
}

std::vector<uint8_t> ReadFileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace larq_engine::testing
