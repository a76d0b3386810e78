// Words the errors of clauses.
#ifndef LARQ_ENGINE_MODEL_FILE_REFUSE_H_
#define LARQ_ENGINE_MODEL_FILE_REFUSE_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// The remedy for faults that no converter makes.
inline constexpr char kDamaged[] = "the file is corrupted: copy or convert it again";

[[noreturn]] inline void Refuse(const std::string& place, const std::string& expected,
                                const std::string& got, const std::string& remedy = kDamaged) {
  throw FileError((place.empty() ? "" : place + ": ") + "expected " + expected + ", got " + got +
                  "; " + remedy);
}

// Returns the first few of several numbers as text.
template <typename Numbers>
std::string NumbersText(const Numbers& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size() && i < 8; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return "[" + text + (numbers.size() > 8 ? ", ...]" : "]");
}

// Returns a name from a file in a printable form. The name may have any length and contain any
// byte, and a 0 would end the message.
inline std::string Shown(const std::string& name) {
  constexpr size_t kMaxBytes = 80;
  size_t end = std::min(name.size(), kMaxBytes);
  while (end > 0 && end < name.size() && (static_cast<uint8_t>(name[end]) & 0xC0) == 0x80) {
    --end;  // keeps whole characters
  }
  std::string text;
  for (const char c : name.substr(0, end)) {
    char code[5] = {c};
    if (static_cast<uint8_t>(c) < 0x20) std::snprintf(code, sizeof(code), "\\x%02x", c);
    text += code;
  }
  return end < name.size() ? text + "..." : text;
}

// The name of a tensor or operator in a message. It becomes text only if there is a message,
// because a model may have many operators, with long names.
class PartName {
 public:
  enum Kind { kTensor, kOperator };

  PartName(const ModelFile& model, size_t graph, Kind kind, size_t index)
      : model_(model), graph_(graph), kind_(kind), index_(index) {}

  operator std::string() const {  // NOLINT(google-explicit-constructor): it is nothing else
    const FileGraph& graph = model_.graphs[graph_];
    const std::string place = graph_ == 0 ? "" : "graph #" + std::to_string(graph_) + ", ";
    const std::string number = "#" + std::to_string(index_);
    const auto name = [&](size_t tensor) { return "'" + Shown(graph.tensors[tensor].name) + "'"; };
    if (kind_ == kTensor) return place + "tensor " + name(index_) + " (" + number + ")";
    // An operator is shown with the name of its output, by which users know layers.
    const std::vector<int32_t>& outputs = graph.operators[index_].outputs;
    const bool has_output = !outputs.empty() && outputs[0] >= 0 &&
                            static_cast<size_t>(outputs[0]) < graph.tensors.size();
    return place + "operator " + number +
           (has_output ? ", to " + name(static_cast<size_t>(outputs[0])) : "");
  }

  friend std::string operator+(const std::string& text, const PartName& part) {
    return text + std::string(part);
  }
  friend std::string operator+(const PartName& part, const std::string& text) {
    return std::string(part) + text;
  }

 private:
  const ModelFile& model_;
  size_t graph_;
  Kind kind_;
  size_t index_;
};

// One graph of a model; names its tensors and operators for messages.
struct GraphPlace {
  const ModelFile& model;
  size_t graph;

  const FileGraph& Graph() const { return model.graphs[graph]; }
  PartName TensorName(size_t index) const { return {model, graph, PartName::kTensor, index}; }
  PartName OperatorName(size_t index) const { return {model, graph, PartName::kOperator, index}; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_REFUSE_H_
