#include "larq_engine/runtime/model/model_graph.h"

#include <algorithm>
#include <utility>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/runtime/model/constant_floats.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/weight_bits.h"

namespace larq_engine {
namespace {

TensorInfo DescribeTensor(const ModelFile& file, const FileTensor& tensor) {
  if (tensor.is_variable || tensor.is_external || tensor.sparsity) {
    throw OpError("tensor '" + tensor.name + "': expected a dense tensor of the file, got " +
                  (tensor.is_variable   ? "a variable"
                   : tensor.is_external ? "one whose data are outside the file"
                                        : "a sparse one") +
                  "; run the model in a host: LiteRT or TensorFlow Lite");
  }
  TensorInfo info{.present = true,
                  .name = tensor.name,
                  .type = tensor.type,
                  .dims = tensor.shape,
                  .signature = tensor.signature};
  const std::span<const uint8_t> data =
      tensor.buffer == 0 ? std::span<const uint8_t>() : file.buffers[tensor.buffer];
  if (!data.empty()) {
    info.constant = data.data();
    info.bytes = data.size();
  }
  if (tensor.quantization) {
    info.scales = tensor.quantization->scales;
    info.zero_points.assign(tensor.quantization->zero_points.begin(),
                            tensor.quantization->zero_points.end());
    info.scale_axis = tensor.quantization->dimension;
  }
  return info;
}

// Callers read and write inputs and outputs as numbers of their own language.
void CheckInterfaceType(const TensorInfo& tensor) {
  switch (tensor.type) {
    case ElementType::kFloat32:
    case ElementType::kFloat16:
    case ElementType::kFloat64:
    case ElementType::kBool:
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kUint8:
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64:
      return;
    default:
      throw OpError("tensor '" + tensor.name +
                    "': expected an input or output of numbers or bool, got " +
                    TypeName(tensor.type) + "; run the model in a host: LiteRT or TensorFlow Lite");
  }
}

}  // namespace

ModelGraph::ModelGraph(const ModelFile& file, size_t graph) : file_(file) {
  const FileGraph& read = file.graphs[graph];
  for (const FileTensor& tensor : read.tensors) tensors_.push_back(DescribeTensor(file, tensor));
  inputs_.assign(read.inputs.begin(), read.inputs.end());
  outputs_.assign(read.outputs.begin(), read.outputs.end());
  for (const std::vector<int>* side : {&inputs_, &outputs_}) {
    for (int tensor : *side) CheckInterfaceType(tensors_[static_cast<size_t>(tensor)]);
  }
  for (size_t i = 0; i < read.operators.size(); ++i) Add(read.operators[i], static_cast<int>(i));
  if (!missing_.empty()) Refuse();
  UnpackAll(outputs_);
}

void ModelGraph::Add(const FileOperator& op, int index) {
  if (AddConstant(op, index)) return;
  const std::optional<Node> node = FindNode(op, index);
  if (node && node->op->is_weights()) return AddUnpacker(op, index);
  if (node) {
    nodes_.push_back(*node);
    return;
  }
  missing_.push_back(DescribeMissing(op, index));
}

// Returns the operator's name and, if the engine computes other forms of it, what form this one is.
std::string ModelGraph::DescribeMissing(const FileOperator& op, int index) const {
  const FileOperatorCode& code = file_.operator_codes[op.code];
  const bool is_builtin = code.kind != builtin::kCustom;
  const std::string layer =
      op.outputs.empty() ? "" : " '" + tensors_[static_cast<size_t>(op.outputs[0])].name + "'";
  const std::string name = (is_builtin ? BuiltinName(code.kind) : code.custom_name) + layer;
  const std::span<const KnownOp> known = KnownOps();
  const bool has_other_forms = std::any_of(known.begin(), known.end(), [&](const KnownOp& row) {
    return row.IsFor(code.kind, code.custom_name.c_str());
  });
  std::string inputs;
  for (int tensor : op.inputs) {
    if (!has_other_forms || tensor == kAbsentTensor) continue;
    const TensorInfo& input = tensors_[static_cast<size_t>(tensor)];
    inputs += inputs.empty() ? ": " : ", ";
    inputs += input.constant == nullptr ? "" : "constant ";
    inputs += TypeName(input.type) + DimsString(input.dims);
  }
  return name + " (#" + std::to_string(index) + inputs + ")";
}

// Finds the row that computes the operator's form; nothing if there is none.
std::optional<ModelGraph::Node> ModelGraph::FindNode(const FileOperator& op, int index) {
  const FileOperatorCode& code = file_.operator_codes[op.code];
  const std::optional<BuiltinOptions> options =
      ReadBuiltinOptions(code.kind, op.builtin ? &*op.builtin : nullptr);
  if (!options || op.outputs.empty()) return std::nullopt;
  for (const KnownOp& row : KnownOps()) {
    if (!row.IsFor(code.kind, code.custom_name.c_str())) continue;
    Node node{.op = &row, .index = index, .file = &op, .options = *options};
    if (row.is_ours()) {
      UnpackAll(op.inputs);
      return node;  // `read` says what may be wrong with it
    }
    if (HasForm(row.form, op, node) && CanCompute(node)) return node;
  }
  return std::nullopt;
}

// Tells whether the operator has the form of a row's, and adds what the form reads.
bool ModelGraph::HasForm(OpForm form, const FileOperator& op, Node& node) {
  if (form == OpForm::kWeightBits) {
    const auto bits = op.inputs.size() > 1 ? weight_bits_.find(op.inputs[1]) : weight_bits_.end();
    if (bits == weight_bits_.end()) return false;
    node.weights = bits->second;
    return true;
  }
  if (form == OpForm::kInt8) {
    return !op.inputs.empty() && op.inputs[0] != kAbsentTensor &&
           tensors_[static_cast<size_t>(op.inputs[0])].type == ElementType::kInt8;
  }
  UnpackAll(op.inputs);
  return true;
}

// Makes constants of those of the tensors that are weights and bits in the file.
void ModelGraph::UnpackAll(std::span<const int> tensors) {
  for (int tensor : tensors) {
    if (weight_bits_.contains(tensor)) Unpack(tensor);
  }
}

void ModelGraph::AddUnpacker(const FileOperator& op, int index) {
  const Node node{.op = FindOp(builtin::kCustom, "LceUnpackWeights"),
                  .index = index,
                  .file = &op,
                  .options = {}};
  ForOperator(NameOf(node), [&] {
    auto info = std::make_shared<OpInfo>(Describe(node, 0));
    WeightBits::Read(*info);
    weight_bits_[op.outputs[0]] = std::move(info);
  });
}

// Makes a constant of a tensor of weights that are bits in the file.
void ModelGraph::Unpack(int tensor) {
  const TensorInfo& made = tensors_[static_cast<size_t>(tensor)];
  if (made.constant != nullptr) return;
  const WeightBits weights = WeightBits::Read(*weight_bits_.at(tensor));
  AlignedBuffer<uint8_t> values(weights.UnpackedBytes());
  weights.UnpackTo(values.data());
  SetConstant(tensor, std::move(values));
}

// Makes a constant of what a DEQUANTIZE makes of a constant. Tells whether the operator is one.
bool ModelGraph::AddConstant(const FileOperator& op, int index) {
  if (file_.operator_codes[op.code].kind != builtin::kDequantize || op.outputs.size() != 1) {
    return false;
  }
  const Node node{
      .op = FindOp(builtin::kDequantize, nullptr), .index = index, .file = &op, .options = {}};
  std::optional<AlignedBuffer<uint8_t>> values;
  ForOperator(NameOf(node), [&] { values = ConstantFloats(Describe(node, 0)); });
  if (values) SetConstant(op.outputs[0], std::move(*values));
  return values.has_value();
}

void ModelGraph::SetConstant(int tensor, AlignedBuffer<uint8_t> values) {
  TensorInfo& made = tensors_[static_cast<size_t>(tensor)];
  constants_.push_back(std::move(values));
  made.constant = constants_.back().data();
  made.bytes = constants_.back().size();
}

OpName ModelGraph::NameOf(const Node& node) const {
  return {.kind = node.op->name, .layer = "", .node = node.index};
}

OpInfo ModelGraph::Describe(const Node& node, size_t output) const {
  const auto tensor = [&](int32_t number) {
    return number == kAbsentTensor ? TensorInfo() : tensors_[static_cast<size_t>(number)];
  };
  if (node.file->outputs.size() != 1 && !node.op->makes_several) {
    throw OpError("expected 1 output, got " + std::to_string(node.file->outputs.size()) +
                  "; re-convert the model");
  }
  OpInfo info;
  for (int32_t input : node.file->inputs) info.inputs.push_back(tensor(input));
  info.output = tensor(node.file->outputs[output]);
  info.output_number = output;
  info.outputs = node.file->outputs.size();
  info.options = node.file->options;
  info.builtin_options = node.options;
  info.weights = node.weights;
  return info;
}

bool ModelGraph::CanCompute(const Node& node) const {
  bool can = true;
  ForOperator(NameOf(node), [&] {
    for (size_t i = 0; i < node.file->outputs.size(); ++i) {
      can = can && node.op->can_claim(Describe(node, i));
    }
  });
  return can;
}

void ModelGraph::Refuse() const {
  constexpr size_t kNamed = 8;
  std::string names;
  for (size_t i = 0; i < std::min(missing_.size(), kNamed); ++i) {
    names += (i == 0 ? "" : ", ") + missing_[i];
  }
  if (missing_.size() > kNamed)
    names += ", and " + std::to_string(missing_.size() - kNamed) + " more";
  throw OpError("larq_engine: expected operators that the engine computes by itself, got " + names +
                "; run the model in a host: LiteRT or TensorFlow Lite");
}

Program ModelGraph::MakeProgram() const {
  Program program;
  for (const Node& node : nodes_) {
    for (size_t i = 0; i < node.file->outputs.size(); ++i) {
      OpName name = NameOf(node);
      ForOperator(name, [&] {
        const int output = node.file->outputs[i];
        program.Add(*node.op, name, Describe(node, i), node.file->inputs, output,
                    std::find(outputs_.begin(), outputs_.end(), output) != outputs_.end());
      });
    }
  }
  return program;
}

}  // namespace larq_engine
