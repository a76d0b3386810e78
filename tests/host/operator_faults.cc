#include "tests/host/operator_faults.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "tests/host/tflite_file.h"

namespace larq_engine::testing {
namespace {

using Words = std::vector<std::string>;

Words Split(std::string_view text, std::string_view separator) {
  Words parts;
  for (size_t end; (end = text.find(separator)) != text.npos;
       text.remove_prefix(end + separator.size())) {
    parts.emplace_back(text.substr(0, end));
  }
  parts.emplace_back(text);
  return parts;
}

template <typename T>
std::vector<T> Numbers(const Words& words) {
  std::vector<T> numbers;
  for (const std::string& word : words) numbers.push_back(static_cast<T>(std::stoll(word)));
  return numbers;
}

std::vector<float> Floats(const Words& words) {
  std::vector<float> floats;
  for (const std::string& word : words) floats.push_back(std::strtof(word.c_str(), nullptr));
  return floats;
}

TfLiteType TypeOf(const std::string& name) {
  static const std::map<std::string, TfLiteType> kTypes = {
      {"float32", kTfLiteFloat32}, {"int8", kTfLiteInt8},   {"int16", kTfLiteInt16},
      {"int32", kTfLiteInt32},     {"int64", kTfLiteInt64}, {"uint8", kTfLiteUInt8},
  };
  return kTypes.at(name);
}

GraphTensor& TensorAt(Graph* graph, const std::string& place) {
  if (place == "input") return graph->tensors.at(static_cast<size_t>(graph->inputs.at(0)));
  const GraphOperator& op = graph->operators.at(std::stoul(place));
  const std::string role = place.substr(place.find('.') + 1);
  const int number = role == "out" ? op.outputs.at(0) : op.inputs.at(std::stoul(role.substr(2)));
  return graph->tensors.at(static_cast<size_t>(number));
}

void ChangeTensor(GraphTensor* tensor, const std::string& what, const Words& values) {
  if (what == "type") {
    tensor->type = TypeOf(values.at(0));
  } else if (what == "shape") {
    tensor->shape = Numbers<int>(values);
  } else if (what == "signature") {
    tensor->shape_signature = Numbers<int>(values);
  } else if (what == "scales") {
    tensor->scales = Floats(values);
  } else if (what == "zero_points") {
    tensor->zero_points = Numbers<int>(values);
  } else if (what == "unquantized") {
    tensor->is_quantized = false;
  } else if (what == "computed") {
    tensor->is_constant = false;
  } else if (what == "zeros") {
    tensor->is_constant = true;
    tensor->data.assign(std::stoul(values.at(0)), 0);
  } else if (what == "floats") {
    const std::vector<float> floats = Floats(values);
    std::memcpy(tensor->data.data(), floats.data(), floats.size() * sizeof(float));
  } else if (what == "byte") {
    tensor->data.at(std::stoul(values.at(0))) = static_cast<uint8_t>(std::stoi(values.at(1)));
  } else {
    throw std::invalid_argument("no tensor has " + what);
  }
}

// Returns the fault of a line such as "Name base: change; change".
OperatorFault ReadFault(const std::string& line) {
  const size_t space = line.find(' '), colon = line.find(':');
  return {.name = line.substr(0, space),
          .base = line.substr(space + 1, colon - space - 1),
          .changes = Split(std::string_view(line).substr(colon + 2), "; "),
          .message = {}};
}

}  // namespace

OperatorFaults ReadOperatorFaults() {
  const std::vector<uint8_t> bytes = ReadFileBytes("tests/common/operator_faults.txt");
  OperatorFaults read;
  for (const std::string& line :
       Split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "\n")) {
    if (line.empty() || line.starts_with('#') || line.starts_with("  file ")) continue;
    if (line.starts_with("  ")) {
      read.faults.back().message = Split(std::string_view(line).substr(2), " | ");
    } else if (line.starts_with("option ")) {
      const Words words = Split(line, " ");
      std::vector<int64_t> values = Numbers<int64_t>({words.begin() + 2, words.end()});
      values.push_back(std::numeric_limits<int64_t>::max());
      values.push_back(std::numeric_limits<int64_t>::min());
      read.options[words[1]] = std::move(values);
    } else {
      read.faults.push_back(ReadFault(line));
    }
  }
  return read;
}

Graph Spoilt(const ModelBuilder& base, const OperatorFault& fault) {
  Graph graph = base.Build();
  std::map<size_t, OptionMap> options;
  for (const std::string& change : fault.changes) {
    const Words words = Split(change, " ");
    const std::string &place = words[0], &what = words.at(1);
    const Words values(words.begin() + 2, words.end());
    if (what == "copy") {
      graph.tensors.push_back(GraphTensor(TensorAt(&graph, place)));
    } else if (place == "graph" && what == "inputs") {
      graph.inputs = Numbers<int>(values);
    } else if (place == "input" || place.find('.') != place.npos) {
      ChangeTensor(&TensorAt(&graph, place), what, values);
    } else {
      const size_t index = std::stoul(place);
      GraphOperator& op = graph.operators.at(index);
      if (what == "inputs") {
        op.inputs = Numbers<int>(values);
      } else if (what == "outputs") {
        op.outputs = Numbers<int>(values);
      } else if (what == "raw_options") {
        op.options = Numbers<uint8_t>(values);
      } else if (what == "option") {
        OptionMap& changed = options.try_emplace(index, base.Options(index)).first->second;
        changed[values.at(0)] = std::stoll(values.at(1));
        op.options = EncodeOptions(changed);
      } else {
        throw std::invalid_argument("no operator has " + what);
      }
    }
  }
  return graph;
}

}  // namespace larq_engine::testing
