#include "larq_engine/runtime/plan/program.h"

#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {
namespace {

// Returns the output's shape, with the dimensions that the file declares.
TensorShape DeclaredShape(const ProgramOp& op, std::span<const TensorShape> inputs) {
  TensorShape output = OutputShape(*op.op, inputs);
  if (!op.declared_dims.empty()) CheckRank(op.declared_dims, "output", output.dims.size());
  return output;
}

}  // namespace

void Program::Add(const KnownOp& row, OpName& name, const OpInfo& info, std::span<const int> inputs,
                  int output, bool host_reads) {
  auto added = std::make_unique<ProgramOp>();
  name.layer = LayerName(info);
  added->name = name;
  added->declared_dims = info.output.dims;
  added->op = std::make_unique<Op>(row.read(info));
  for (size_t input : DataInputs(*added->op)) {
    const size_t value = FindValue(inputs[input], info.inputs[input]);
    added->inputs.push_back(value);
    values_[value].readers.push_back(ops_.size());
  }
  added->output = values_.size();
  latest_[output] = values_.size();
  values_.push_back({.tensor = output,
                     .name = info.output.name,
                     .producer = static_cast<int>(ops_.size()),
                     .element_bytes = ElementBytes(info.output.type),
                     .is_float = info.output.type == ElementType::kFloat32,
                     .host_reads = host_reads});
  ops_.push_back(std::move(added));
}

size_t Program::FindValue(int tensor, const TensorInfo& info) {
  const auto [found, is_new] = latest_.try_emplace(tensor, values_.size());
  if (is_new) {
    values_.push_back({.tensor = tensor,
                       .name = info.name,
                       .element_bytes = ElementBytes(info.type),
                       .is_float = info.type == ElementType::kFloat32});
    Value& value = values_.back();
    value.is_constant = info.constant != nullptr;
    if (value.is_constant && value.element_bytes > 1) {
      value.constant = ConstantValues<int32_t>(info.constant, info.bytes, value.element_bytes);
    }
  }
  return found->second;
}

bool Program::Resize(HostTensors& host) {
  for (Value& value : values_) {
    if (value.producer != Value::kHost) continue;
    value.shape = {.dims = host.Dims(value.tensor)};
  }
  for (const auto& op : ops_) {
    if (!ResizeOp(host, *op)) return false;
  }
  return true;
}

std::vector<TensorShape> Program::InputShapes(const ProgramOp& op) const {
  std::vector<TensorShape> shapes;
  for (size_t input : op.inputs) shapes.push_back(values_[input].shape);
  return shapes;
}

bool Program::ResizeOp(HostTensors& host, const ProgramOp& op) {
  const std::vector<TensorShape> inputs = InputShapes(op);
  for (const auto& absorbed : op.absorbed) {
    TensorShape output;
    ForOperator(absorbed->name, [&] { output = DeclaredShape(*absorbed, inputs); });
    if (output.dims != inputs[0].dims) return false;
  }
  ForOperator(op.name, [&] {
    const auto size = [&](Value& value) {
      const std::vector<int>& dims = value.shape.dims;
      value.bytes =
          MemoryProduct(static_cast<size_t>(CountElements(dims, dims.size())), value.element_bytes);
    };
    Value& output = values_[op.output];
    output.shape = DeclaredShape(op, inputs);
    for (size_t input : op.inputs) size(values_[input]);
    size(output);
    if (output.host_reads) host.Resize(output.tensor, output.shape.dims);
  });
  return true;
}

// Finds again who makes and reads each value, after operators were removed or added, and removes
// the values that nobody uses any more.
void Program::Renumber() {
  for (Value& value : values_) {
    value.producer = Value::kHost;
    value.readers.clear();
  }
  std::vector<bool> is_used(values_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    values_[ops_[i]->output].producer = static_cast<int>(i);
    is_used[ops_[i]->output] = true;
    for (size_t input : ops_[i]->inputs) {
      values_[input].readers.push_back(i);
      is_used[input] = true;
    }
  }
  std::vector<Value> left;
  std::vector<size_t> left_index(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    left_index[i] = left.size();
    if (is_used[i]) left.push_back(std::move(values_[i]));
  }
  values_ = std::move(left);
  for (const auto& op : ops_) {
    op->output = left_index[op->output];
    for (size_t& input : op->inputs) input = left_index[input];
  }
}

}  // namespace larq_engine
