// How clauses name what is wrong.
#ifndef LARQ_ENGINE_MODEL_FILE_REFUSE_H_
#define LARQ_ENGINE_MODEL_FILE_REFUSE_H_

#include <string>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

[[noreturn]] inline void Refuse(const std::string& place, const std::string& expected,
                                const std::string& got) {
  throw FileError((place.empty() ? "" : place + ": ") + "expected " + expected + ", got " + got +
                  "; the file is corrupted: copy or convert it again");
}

// Of several numbers the first ones.
template <typename Numbers>
std::string SomeOf(const Numbers& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size() && i < 8; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return "[" + text + (numbers.size() > 8 ? ", ...]" : "]");
}

// A tensor or operator of one graph, for messages.
struct Place {
  const ModelFile& model;
  size_t graph;

  const FileGraph& Graph() const { return model.graphs[graph]; }

  std::string InGraph() const { return graph == 0 ? "" : "graph #" + std::to_string(graph) + ", "; }
  std::string Tensor(size_t index) const {
    return InGraph() + "tensor '" + Graph().tensors[index].name + "' (#" + std::to_string(index) +
           ")";
  }
  // The name of its output, as users know layers by it.
  std::string Operator(size_t index) const {
    const FileOperator& op = Graph().operators[index];
    std::string text = InGraph() + "operator #" + std::to_string(index);
    if (op.outputs.empty()) return text;
    const auto output = static_cast<size_t>(op.outputs[0]);
    if (op.outputs[0] < 0 || output >= Graph().tensors.size()) return text;
    return text + ", to '" + Graph().tensors[output].name + "'";
  }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_REFUSE_H_
