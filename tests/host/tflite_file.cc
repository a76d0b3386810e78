#include "tests/host/tflite_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/host/flatbuffer_reader.h"

namespace larq_engine::testing {
namespace {

// Field numbers of the TFLite schema, in the order in which its tables declare them.
namespace model {
enum { kVersion = 0, kOperatorCodes = 1, kSubgraphs = 2, kBuffers = 4 };
}
namespace operator_code {
enum { kDeprecatedBuiltinCode = 0, kCustomCode = 1, kVersion = 2, kBuiltinCode = 3 };
}
namespace subgraph {
enum { kTensors = 0, kInputs = 1, kOutputs = 2, kOperators = 3 };
}
namespace tensor {
enum { kShape = 0, kType = 1, kBuffer = 2, kName = 3, kQuantization = 4, kShapeSignature = 7 };
}
namespace quantization {
enum { kScale = 2, kZeroPoint = 3, kQuantizedDimension = 6 };
}
namespace operation {
enum { kOpcodeIndex = 0, kInputs = 1, kOutputs = 2, kCustomOptions = 5 };
}
namespace buffer {
enum { kData = 0 };
}

// The file numbers its types differently from the C interface; the index here is the file's number.
constexpr TfLiteType kFileTypes[] = {
    kTfLiteFloat32, kTfLiteFloat16,    kTfLiteInt32,  kTfLiteUInt8,     kTfLiteInt64,
    kTfLiteString,  kTfLiteBool,       kTfLiteInt16,  kTfLiteComplex64, kTfLiteInt8,
    kTfLiteFloat64, kTfLiteComplex128, kTfLiteUInt64, kTfLiteResource,  kTfLiteVariant,
    kTfLiteUInt32,  kTfLiteUInt16,     kTfLiteInt4,
};

std::vector<int> ReadInts(const FlatTable& table, int field) {
  const FlatVector values = table.Vector(field, sizeof(int32_t));
  std::vector<int> result(values.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = table.ScalarAt<int32_t>(values, i);
  return result;
}

void ReadQuantization(const FlatTable& table, GraphTensor* result) {
  const FlatVector scales = table.Vector(quantization::kScale, sizeof(float));
  const FlatVector zero_points = table.Vector(quantization::kZeroPoint, sizeof(int64_t));
  result->is_quantized = scales.size() > 0;
  for (size_t i = 0; i < scales.size(); ++i) {
    result->scales.push_back(table.ScalarAt<float>(scales, i));
  }
  for (size_t i = 0; i < zero_points.size(); ++i) {
    result->zero_points.push_back(static_cast<int>(table.ScalarAt<int64_t>(zero_points, i)));
  }
  result->quantized_dimension = table.Scalar<int32_t>(quantization::kQuantizedDimension, 0);
}

GraphTensor ReadTensor(const FlatTable& model_table, const FlatTable& table) {
  GraphTensor result;
  result.name = table.String(tensor::kName);
  const uint8_t type = table.Scalar<uint8_t>(tensor::kType, 0);
  if (type >= std::size(kFileTypes)) {
    throw FormatError("tensor '" + result.name + "' has the unknown type " + std::to_string(type));
  }
  result.type = kFileTypes[type];
  result.shape = ReadInts(table, tensor::kShape);
  result.shape_signature = ReadInts(table, tensor::kShapeSignature);

  // Buffer 0 is empty by definition and stands for "no constant data".
  const FlatVector buffers = model_table.Vector(model::kBuffers, 4);
  const uint32_t buffer_index = table.Scalar<uint32_t>(tensor::kBuffer, 0);
  const FlatTable data_table = model_table.TableAt(buffers, buffer_index);
  const std::span<const uint8_t> data = data_table.Vector(buffer::kData, 1).Bytes();
  result.is_constant = !data.empty();
  result.data.assign(data.begin(), data.end());
  if (table.Has(tensor::kQuantization)) {
    ReadQuantization(table.Table(tensor::kQuantization), &result);
  }
  return result;
}

GraphOperator ReadOperator(const FlatTable& model_table, const FlatTable& table) {
  const FlatVector codes = model_table.Vector(model::kOperatorCodes, 4);
  const uint32_t index = table.Scalar<uint32_t>(operation::kOpcodeIndex, 0);
  const FlatTable code = model_table.TableAt(codes, index);
  GraphOperator result;
  // Codes above 127 did not fit the first field, so a second one came; the larger of the two
  // counts.
  result.builtin_code = std::max<int>(code.Scalar<int8_t>(operator_code::kDeprecatedBuiltinCode, 0),
                                      code.Scalar<int32_t>(operator_code::kBuiltinCode, 0));
  result.custom_name = code.String(operator_code::kCustomCode);
  result.version = code.Scalar<int32_t>(operator_code::kVersion, 1);
  result.inputs = ReadInts(table, operation::kInputs);
  result.outputs = ReadInts(table, operation::kOutputs);
  const std::span<const uint8_t> options = table.Vector(operation::kCustomOptions, 1).Bytes();
  result.options.assign(options.begin(), options.end());
  return result;
}

}  // namespace

Graph ReadTfliteFile(std::span<const uint8_t> bytes) {
  const FlatBuffer file(bytes);
  const std::span<const uint8_t> identifier = file.Slice(4, 4);
  if (std::string(identifier.begin(), identifier.end()) != "TFL3") {
    throw FormatError("not a TFLite file: the bytes 4 to 7 are not TFL3");
  }
  const FlatTable model_table(&file, file.Follow(0));
  const FlatVector subgraphs = model_table.Vector(model::kSubgraphs, 4);
  const FlatTable main = model_table.TableAt(subgraphs, 0);

  Graph graph;
  const FlatVector tensors = main.Vector(subgraph::kTensors, 4);
  // Several tensors may share one buffer, so a small file could ask for endless copies of it.
  size_t copied = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    graph.tensors.push_back(ReadTensor(model_table, main.TableAt(tensors, i)));
    copied += graph.tensors.back().data.size();
    if (copied > 2 * bytes.size()) throw FormatError("tensors share constant data excessively");
  }
  const FlatVector operators = main.Vector(subgraph::kOperators, 4);
  for (size_t i = 0; i < operators.size(); ++i) {
    graph.operators.push_back(ReadOperator(model_table, main.TableAt(operators, i)));
  }
  graph.inputs = ReadInts(main, subgraph::kInputs);
  graph.outputs = ReadInts(main, subgraph::kOutputs);
  return graph;
}

std::vector<uint8_t> ReadFileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FormatError("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace larq_engine::testing
